#include "compose/written.h"

#include <algorithm>

#include "base/text.h"
#include "doc/node.h"

namespace goldenv::compose {
namespace {

using doc::Node;

constexpr std::size_t kLongestHead = 127;  // BINPRM_BUF_SIZE of kernels before 5.1, less the NUL

bool is_dotted_name(std::string_view text) {
  return std::ranges::all_of(split(text, '.'), [](std::string_view part) {
    const bool letters = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || static_cast<unsigned char>(c) >= 0x80;
    });
    return !part.empty() && letters && (part[0] < '0' || part[0] > '9');
  });
}

Node text(std::string value) { return Node::scalar(std::move(value), true); }

}  // namespace

std::string record_text(const Plan& plan) {
  std::vector<Node> ids;
  for (const store::Object& object : plan.objects) {
    ids.push_back(text(object.id()));
  }
  std::vector<Node::Entry> python;
  python.push_back({"interpreter", {}, text(plan.python.interpreter)});
  python.push_back({"version", {}, text(plan.python.version)});
  std::vector<Node::Entry> entries;
  entries.push_back({"goldenv_generation", {}, Node::scalar("1")});
  entries.push_back({"digest", {}, text(plan.digest)});
  entries.push_back({"python", {}, Node::mapping(std::move(python))});
  entries.push_back({"objects", {}, Node::sequence(std::move(ids))});
  return doc::render_json(Node::mapping(std::move(entries)));
}

Result<Recorded> parse_record(std::string_view bytes, std::string_view name) {
  GOLDENV_TRY(const Node root, doc::parse(bytes, doc::Format::json, name));
  const Node* form = root.find("goldenv_generation");
  const Node* python = root.find("python");
  const Node* objects = root.find("objects");
  const Node* interpreter = python != nullptr ? python->find("interpreter") : nullptr;
  const Node* version = python != nullptr ? python->find("version") : nullptr;
  if (form == nullptr || form->text != "1" || interpreter == nullptr || version == nullptr ||
      objects == nullptr || !objects->is_sequence()) {
    return doc::error_at(name, root.mark, "not what a generation says of itself");
  }
  Recorded recorded{{interpreter->text, version->text}, {}};
  for (const Node& item : objects->items) {
    recorded.objects.push_back(item.text);
  }
  return recorded;
}

std::string venv_text(const BasePython& python) {
  return "home = " + python.interpreter.substr(0, python.interpreter.rfind('/')) +
         "\ninclude-system-site-packages = false\nversion = " + python.version +
         "\nexecutable = " + python.interpreter + "\n";
}

std::string script_head(std::string_view interpreter) {
  const bool plain = interpreter.find_first_of(" \t\n") == std::string_view::npos;
  if (plain && interpreter.size() + 2 <= kLongestHead) {
    return "#!" + std::string(interpreter) + "\n";
  }
  // A shell reads the lines as a command, Python as a string.
  std::string quoted;
  for (const char c : interpreter) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') {
      quoted += '\\';
    }
    quoted += c;
  }
  return "#!/bin/sh\n'''exec' \"" + quoted + "\" \"$0\" \"$@\"\n' '''\n";
}

Result<std::string> script_text(const Plan& plan, const store::Script& script) {
  if (!is_dotted_name(script.module) || !is_dotted_name(script.function)) {
    return Error{Errc::failed,
                 "bin/" + script.name + ": \"" + shortened(script.module, 60) + ":" +
                     shortened(script.function, 60) + "\" names no function",
                 {}};
  }
  const std::string imported = script.function.substr(0, script.function.find('.'));
  return script_head(plan.folder + "/bin/python") +
         "# -*- coding: utf-8 -*-\nimport re\nimport sys\nfrom " + script.module + " import " +
         imported +
         "\nif __name__ == \"__main__\":\n"
         "    sys.argv[0] = re.sub(r\"(-script\\.pyw|\\.exe)?$\", \"\", sys.argv[0])\n"
         "    sys.exit(" +
         script.function + "())\n";
}

}  // namespace goldenv::compose
