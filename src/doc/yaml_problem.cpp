#include "doc/yaml_problem.h"

#include <array>
#include <string>

#include "doc/reader.h"

namespace goldenv::doc {
namespace {

struct Wording {
  std::string_view problem;
  std::string_view context;  ///< empty: any
  std::string_view says;
  bool at_context;
};

// Source: the texts in libyaml 0.2.5's scanner and parser.
constexpr std::array kWordings{
    Wording{"could not find expected ':'", "",
            "this text has no ':' behind it; expected `key: value`", true},
    Wording{"mapping values are not allowed in this context", "",
            "a ':' where no value can begin; expected quotes around the text that holds it, or a "
            "line of its own",
            false},
    Wording{"mapping keys are not allowed in this context", "",
            "a '?' where no key can begin; expected quotes around the text", false},
    Wording{"block sequence entries are not allowed in this context", "",
            "a '-' where no list can begin; expected the list on lines of its own", false},
    Wording{"found unexpected end of stream", "while scanning a quoted scalar",
            "a quote that nothing closes; expected the same quote at the end of the text", true},
    Wording{"found unexpected document indicator", "",
            "a line of '---' or '...' within quotes; expected the closing quote before it", false},
    Wording{"found unknown escape character", "",
            "an unknown escape; expected one of \\\\ \\\" \\n \\t \\xNN \\uNNNN, or single quotes",
            false},
    Wording{"did not find expected hexdecimal number", "",
            "an escape that is cut short; expected hexadecimal digits", false},
    Wording{"found invalid Unicode character escape code", "",
            "an escape that names no character; expected a code point outside U+D800 to U+DFFF",
            false},
    Wording{"found unexpected ':'", "",
            "a ':' within plain text in brackets; expected a blank behind it, or quotes", false},
    Wording{"did not find expected <document start>", "",
            "text behind the document; expected one document and nothing more (is it indented "
            "like the lines before it?)",
            false},
    Wording{"did not find expected key", "while parsing a block mapping",
            "this does not go on with the mapping before it; expected `key: value`, indented like "
            "its other keys",
            false},
    Wording{"did not find expected '-' indicator", "",
            "this does not go on with the list before it; expected '- ', indented like its other "
            "items",
            false},
    Wording{"did not find expected ',' or ']'", "",
            "a list in brackets that does not go on; expected ',' or ']'", false},
    Wording{"did not find expected ',' or '}'", "",
            "a mapping in braces that does not go on; expected ',' or '}'", false},
    Wording{"did not find expected node content", "", "a value is missing; expected one here",
            false},
    Wording{"found a tab character where an indentation space is expected", "",
            "a tab in the indentation; expected blanks", false},
    Wording{"found a tab character that violates indentation", "",
            "a tab in the indentation; expected blanks", false},
    Wording{"did not find expected alphabetic or numeric character", "while scanning an alias",
            "a '*' without the name of an anchor; expected quotes around the text", true},
    Wording{"did not find expected alphabetic or numeric character", "while scanning an anchor",
            "a '&' without the name of an anchor; expected quotes around the text", true},
    Wording{"found incompatible YAML document", "",
            "a version of YAML that is not read; expected 1.1 or 1.2", false},
    Wording{"found undefined tag handle", "", "a tag; expected none", false},
};

constexpr std::array<std::string_view, 3> kTagContexts{
    "while scanning a tag", "while parsing a tag", "while parsing a tag directive"};

}  // namespace

YamlProblem explain_yaml(std::string_view problem, std::string_view context, char next) {
  if (problem == "found character that cannot start any token") {
    if (next == '\t') {
      return {"a tab in the indentation; expected blanks", false};
    }
    return {snippet(std::string_view(&next, 1)) +
                " cannot begin a plain text; expected quotes around it",
            false};
  }
  for (const Wording& wording : kWordings) {
    if (wording.problem == problem && (wording.context.empty() || wording.context == context)) {
      return {std::string(wording.says), wording.at_context};
    }
  }
  for (const std::string_view tag : kTagContexts) {
    if (context == tag) {
      return {"a '!' begins a tag; expected quotes around the text", true};
    }
  }
  std::string says(problem);
  if (!context.empty()) {
    says += ' ';
    says += context;
  }
  return {says + "; expected YAML", false};
}

}  // namespace goldenv::doc
