#include "provision/debs.h"

#include "base/sha256.h"
#include "provision/remembered.h"
#include "provision/requests.h"
#include "wheel/tags.h"

namespace goldenv::provision {
namespace {

std::string arch_of(const Interpreter& interpreter) {
  return recipe::fill("{arch.deb}", {{"arch", interpreter.target.machine}}).value_or("");
}

/// It is looked for where no wheel is for this Python, so what was found holds for it.
std::string question_of(const Component& component, const recipe::Source& source,
                        const Interpreter& interpreter) {
  return "deb 1\n" + source.name + "\n" + source.version + "\n" + arch_of(interpreter) + "\n" +
         component.key + " " + component.version + "\n" + interpreter.version + " " +
         wheel::abi_tag(interpreter.target);
}

}  // namespace

std::optional<offer::Deb> remembered_deb(const Component& component, const recipe::Source& source,
                                         const Interpreter& interpreter,
                                         const store::Store& store) {
  const auto answer = recall(store, question_of(component, source, interpreter));
  if (!answer) {
    return std::nullopt;
  }
  offer::Deb deb{text_at(*answer, "package"), text_at(*answer, "version"), text_at(*answer, "url"),
                 text_at(*answer, "sha256"), number_at(*answer, "size_bytes")};
  const bool whole = deb.package == source.name && !deb.url.empty() && Sha256::parse(deb.sha256);
  return whole ? std::optional(std::move(deb)) : std::nullopt;
}

Result<offer::Deb> look_for_deb(const Component& component, const recipe::Source& source,
                                const Interpreter& interpreter, const host::Host& machine,
                                const store::Store& store) {
  GOLDENV_TRY(offer::Deb deb,
              offer::find_deb(machine, source.name, source.version, arch_of(interpreter)));
  doc::Node answer;
  put(answer, "package", text_node(deb.package));
  put(answer, "version", text_node(deb.version));
  put(answer, "url", text_node(deb.url));
  put(answer, "sha256", text_node(deb.sha256));
  if (deb.size_bytes) {
    put(answer, "size_bytes", number_node(*deb.size_bytes));
  }
  remember(store, question_of(component, source, interpreter), answer);
  return deb;
}

ObjectRequest from_deb(const Component& component, const offer::Deb& deb,
                       const Interpreter& interpreter) {
  ObjectRequest request = request_for(component);
  request.kind = "deb";
  request.name = name_for(component);
  request.version = component.version;
  request.file = deb.url.substr(deb.url.rfind('/') + 1);
  request.urls = {deb.url};
  request.sha256 = deb.sha256;
  request.size_bytes = deb.size_bytes;
  request.place = deb_layout(interpreter);
  return request;
}

std::vector<recipe::Layout> deb_layout(const Interpreter& interpreter) {
  const std::string triplet = interpreter.target.machine + "-linux-gnu";
  return {{"usr/lib/" + triplet, "lib"}, {"usr/lib", "lib"},
          {"lib/" + triplet, "lib"},     {"usr/include/" + triplet, "include"},
          {"usr/include", "include"},    {"usr/bin", "bin"}};
}

}  // namespace goldenv::provision
