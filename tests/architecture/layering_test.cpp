#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_dir.h"

// The rooms of src/ and their arrows are a table (src/CMakeLists.txt, written to layers.txt by the
// build). Libraries alone do not hold it: a header is found whatever a target links. So every
// #include is read here.

namespace goldenv::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  std::string room;
  std::set<std::string> may_include;
};

struct Source {
  std::string path;  ///< below src/: "facts/reading.h"
  std::string text;

  [[nodiscard]] std::string room() const { return path.substr(0, path.find('/')); }
  [[nodiscard]] bool header() const { return path.ends_with(".h"); }
};

struct Include {
  std::string name;
  bool quoted = false;
  std::size_t line = 0;
};

using Complaints = std::vector<std::string>;

/// One row a line: the room, then the rooms it may include.
std::vector<Row> parse_table(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Row row;
    words >> row.room;
    for (std::string word; words >> word;) {
      row.may_include.insert(word);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<Include> includes_of(const Source& source) {
  static const std::regex form(R"(^\s*#\s*include\s*([<"])([^>"]*)[>"])");
  std::vector<Include> includes;
  std::istringstream lines(source.text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, form)) {
      includes.push_back({match[2].str(), match[1].str() == "\"", number});
    }
  }
  return includes;
}

/// The text with comments and the insides of literals blanked, line ends kept.
std::string code_only(std::string_view text) {
  enum class In { code, line_comment, comment, quoted, raw, character } in = In::code;
  std::string out;
  std::string raw_end;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view rest = text.substr(i);
    if (c == '\n') {
      in = in == In::line_comment ? In::code : in;
      out += c;
      continue;
    }
    switch (in) {
      case In::code:
        if (rest.starts_with("//")) {
          in = In::line_comment;
        } else if (rest.starts_with("/*")) {
          in = In::comment;
        } else if (rest.starts_with("R\"")) {
          const std::size_t open = rest.find('(');
          raw_end = ")" + std::string(rest.substr(2, open - 2)) + "\"";
          i += open;
          in = In::raw;
        } else if (c == '"') {
          in = In::quoted;
        } else if (c == '\'' &&
                   (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0)) {
          in = In::character;  // not the ' in 200'000
        } else {
          out += c;
        }
        break;
      case In::line_comment:
        break;
      case In::comment:
        if (rest.starts_with("*/")) {
          ++i;
          in = In::code;
        }
        break;
      case In::raw:
        if (rest.starts_with(raw_end)) {
          i += raw_end.size() - 1;
          in = In::code;
        }
        break;
      case In::quoted:
      case In::character:
        if (c == '\\') {
          ++i;
        } else if (c == (in == In::quoted ? '"' : '\'')) {
          in = In::code;
        }
        break;
    }
  }
  return out;
}

std::string at(const Source& source, std::size_t line) {
  return "src/" + source.path + ":" + std::to_string(line) + ": ";
}

/// Every quoted include names a file of a room that the includer's room may use.
Complaints forbidden_arrows(const std::vector<Row>& table, const std::vector<Source>& sources) {
  std::map<std::string, std::set<std::string>> allowed;
  for (const Row& row : table) {
    allowed[row.room] = row.may_include;
    allowed[row.room].insert(row.room);
  }
  std::set<std::string> paths;
  for (const Source& source : sources) {
    paths.insert(source.path);
  }
  Complaints complaints;
  for (const Source& source : sources) {
    if (!allowed.contains(source.room())) {
      complaints.push_back(at(source, 1) + source.room() + " is no room of src/CMakeLists.txt");
      continue;
    }
    for (const Include& include : includes_of(source)) {
      const std::string room = include.name.substr(0, include.name.find('/'));
      if (!include.quoted) {
        if (allowed.contains(room) && paths.contains(include.name)) {
          complaints.push_back(at(source, include.line) + include.name + " is ours: \"...\"");
        }
      } else if (!paths.contains(include.name)) {
        complaints.push_back(at(source, include.line) + include.name + " is not below src/");
      } else if (!allowed[source.room()].contains(room)) {
        complaints.push_back(at(source, include.line) + source.room() + " -> " + room);
      }
    }
  }
  return complaints;
}

/// Arrows point up the table only, which leaves no room for a cycle.
Complaints arrows_down(const std::vector<Row>& table) {
  Complaints complaints;
  std::set<std::string> above;
  for (const Row& row : table) {
    for (const std::string& room : row.may_include) {
      if (!above.contains(room)) {
        complaints.push_back(row.room + " -> " + room + ": not above it");
      }
    }
    above.insert(row.room);
  }
  return complaints;
}

/// Headers that include each other in a ring, within a room too: "a/x.h -> a/y.h -> a/x.h".
Complaints header_rings(const std::vector<Source>& sources) {
  std::map<std::string, std::vector<std::string>> arrows;
  for (const Source& source : sources) {
    if (source.header()) {
      for (const Include& include : includes_of(source)) {
        arrows[source.path].push_back(include.name);
      }
    }
  }
  Complaints complaints;
  std::set<std::string> done;
  std::vector<std::string> trail;
  const auto walk = [&](const auto& self, const std::string& header) -> void {
    if (const auto seen = std::ranges::find(trail, header); seen != trail.end()) {
      std::string ring;
      for (auto it = seen; it != trail.end(); ++it) {
        ring += *it + " -> ";
      }
      complaints.push_back(ring + header);
      return;
    }
    if (!arrows.contains(header) || done.contains(header)) {
      return;
    }
    trail.push_back(header);
    for (const std::string& next : arrows[header]) {
      self(self, next);
    }
    trail.pop_back();
    done.insert(header);
  };
  for (const Source& source : sources) {
    walk(walk, source.path);
  }
  return complaints;
}

/// Rooms that are functions of their arguments alone.
const std::set<std::string> kPureRooms = {"version", "tables", "facts",     "manifest",
                                          "recipe",  "compat", "wheel",     "diff",
                                          "fleet",   "report", "privileged"};

/// A pure room touches no file, clock, process or terminal.
Complaints impurities(const std::vector<Source>& sources) {
  static const std::set<std::string> headers = {
      "fstream",    "filesystem", "iostream",     "thread",     "ctime",      "random",
      "unistd.h",   "fcntl.h",    "dirent.h",     "poll.h",     "time.h",     "stdio.h",
      "sys/stat.h", "sys/wait.h", "sys/socket.h", "sys/mman.h", "sys/time.h", "spawn.h"};
  static const std::regex words(R"(\b((system|steady|high_resolution|file)_clock\b|)"
                                R"((getenv|f?printf|f?puts|fopen|popen|system)\s*\())");
  Complaints complaints;
  for (const Source& source : sources) {
    if (!kPureRooms.contains(source.room())) {
      continue;
    }
    for (const Include& include : includes_of(source)) {
      if (!include.quoted && headers.contains(include.name)) {
        complaints.push_back(at(source, include.line) + source.room() + " is pure: <" +
                             include.name + ">");
      }
    }
    std::istringstream lines(code_only(source.text));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::smatch match;
      if (std::regex_search(line, match, words)) {
        complaints.push_back(at(source, number) + source.room() + " is pure: " + match.str());
      }
    }
  }
  return complaints;
}

/// Only cli writes to the terminal and ends the program; _exit() of a forked child is another
/// thing.
Complaints voices(const std::vector<Source>& sources) {
  static const std::regex words(
      R"(\bstd::(cout|cerr|clog)\b|(^|[^\w])(f?printf|f?puts|putchar|exit|quick_exit|abort)\s*\()");
  Complaints complaints;
  for (const Source& source : sources) {
    if (source.room() == "cli") {
      continue;
    }
    std::istringstream lines(code_only(source.text));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (std::regex_search(line, words)) {
        complaints.push_back(at(source, number) + "only cli prints and exits");
      }
    }
  }
  return complaints;
}

/// Headers that take seconds to compile, and whose library's exceptions and traps end where it is
/// called: one .cpp each.
Complaints spread_heavies(const std::vector<Source>& sources) {
  std::map<std::string, std::vector<std::string>> users;
  Complaints complaints;
  for (const Source& source : sources) {
    for (const Include& include : includes_of(source)) {
      for (const std::string_view heavy :
           {"CLI/", "nlohmann/", "toml++/", "yaml.h", "nettle/", "libelf.h"}) {
        if (!include.quoted && include.name.starts_with(heavy)) {
          std::vector<std::string>& files = users[std::string(heavy)];
          if (files.empty() || files.back() != source.path) {
            files.push_back(source.path);
          }
          if (source.header()) {
            complaints.push_back(at(source, include.line) + include.name + " in a header");
          }
        }
      }
    }
  }
  for (const auto& [heavy, files] : users) {
    // One .cpp for libelf would mix two readers; its room keeps it in.
    if (files.size() > 1 && heavy != "libelf.h") {
      std::string list;
      for (const std::string& file : files) {
        list += " " + file;
      }
      complaints.push_back(heavy + " in more than one file:" + list);
    }
  }
  return complaints;
}

std::vector<Row> table() { return parse_table(read_file(GOLDENV_BINARY_DIR "/layers.txt")); }

std::vector<Source> sources() {
  const std::filesystem::path top(GOLDENV_SOURCE_DIR "/src");
  std::vector<Source> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) {
      all.push_back({entry.path().lexically_relative(top).string(), read_file(entry.path())});
    }
  }
  std::ranges::sort(all, {}, &Source::path);
  return all;
}

TEST(Layering, EveryIncludeFollowsTheTable) {
  ASSERT_GT(sources().size(), 20u);
  EXPECT_THAT(forbidden_arrows(table(), sources()), IsEmpty());
}

TEST(Layering, TheTableHasNoCycle) {
  ASSERT_GT(table().size(), 10u);
  EXPECT_THAT(arrows_down(table()), IsEmpty());
}

TEST(Layering, NoHeadersIncludeEachOther) { EXPECT_THAT(header_rings(sources()), IsEmpty()); }

TEST(Layering, PureRoomsTouchNoFileClockOrProcess) {
  EXPECT_THAT(impurities(sources()), IsEmpty());
}

TEST(Layering, PureRoomsAreRooms) {
  std::set<std::string> rooms;
  for (const Row& row : table()) {
    rooms.insert(row.room);
  }
  EXPECT_TRUE(std::ranges::includes(rooms, kPureRooms));
}

TEST(Layering, OnlyCliPrintsAndExits) { EXPECT_THAT(voices(sources()), IsEmpty()); }

TEST(Layering, HeavyHeadersStandInOneSourceEach) {
  EXPECT_THAT(spread_heavies(sources()), IsEmpty());
}

// The checks above hold nothing unless each of them can fail.

TEST(LayeringCheck, SeesAForbiddenArrowWithItsPlace) {
  const std::vector<Row> rows = parse_table("base\nfacts base\ncli base facts\n");
  const std::vector<Source> files = {
      {"base/text.h", "#pragma once\n\n#include \"facts/reading.h\"\n"},
      {"cli/main.cpp", "#include \"facts/reading.h\"\n#include \"base/text.h\"\n"},
      {"facts/reading.h", "#include \"base/text.h\"\n# include <base/text.h>\n"},
      {"facts/x.cpp", "#include \"reading.h\"\n"},
      {"junk/x.cpp", ""}};
  EXPECT_THAT(forbidden_arrows(rows, files),
              ElementsAre("src/base/text.h:3: base -> facts",
                          "src/facts/reading.h:2: base/text.h is ours: \"...\"",
                          "src/facts/x.cpp:1: reading.h is not below src/",
                          "src/junk/x.cpp:1: junk is no room of src/CMakeLists.txt"));
}

TEST(LayeringCheck, SeesAnArrowDownTheTable) {
  EXPECT_THAT(arrows_down(parse_table("a b\nb\n")), ElementsAre("a -> b: not above it"));
}

TEST(LayeringCheck, SeesARingOfHeaders) {
  EXPECT_THAT(header_rings({{"a/x.h", "#include \"a/y.h\"\n"}, {"a/y.h", "#include \"a/x.h\"\n"}}),
              ElementsAre("a/x.h -> a/y.h -> a/x.h"));
}

TEST(LayeringCheck, SeesAPureRoomReadAFileOrAClock) {
  const Source source{"diff/diff.cpp",
                      "#include <fstream>\n// steady_clock is no concern here\n"
                      "auto t = std::chrono::steady_clock::now();\n"
                      "auto s = \"printf\"; auto r = R\"(getenv)\";\n"};
  EXPECT_THAT(impurities({source}), ElementsAre("src/diff/diff.cpp:1: diff is pure: <fstream>",
                                                "src/diff/diff.cpp:3: diff is pure: steady_clock"));
}

TEST(LayeringCheck, SeesAVoiceBelowCli) {
  const Source source{"host/live.cpp",
                      "std::cerr << 1;\n_exit(0);\nexit(1);\nsnprintf(a, 1, b);\nprintf(a);\n"};
  EXPECT_THAT(voices({source}), ElementsAre("src/host/live.cpp:1: only cli prints and exits",
                                            "src/host/live.cpp:3: only cli prints and exits",
                                            "src/host/live.cpp:5: only cli prints and exits"));
  EXPECT_THAT(voices({{"cli/main.cpp", source.text}}), IsEmpty());
}

TEST(LayeringCheck, SeesAHeavyHeaderTwice) {
  EXPECT_THAT(
      spread_heavies({{"doc/a.cpp", "#include <yaml.h>\n"}, {"doc/b.h", "#include <yaml.h>\n"}}),
      ElementsAre("src/doc/b.h:1: yaml.h in a header",
                  "yaml.h in more than one file: doc/a.cpp doc/b.h"));
}

}  // namespace
}  // namespace goldenv::test
