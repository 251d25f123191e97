#pragma once

#include <optional>
#include <string>

#include "provision/interpreter.h"
#include "provision/packages.h"
#include "provision/realiser.h"
#include "provision/redist.h"
#include "provision/wanted.h"

// From a source of a component to what goldenv-realise is asked for. Pure.
namespace goldenv::provision {

/// "wheel nvidia-nccl-cu12": how people are told of a source.
std::string called(const recipe::Source& source);

/// What every request of a recipe says.
ObjectRequest request_for(const Component& component);
/// What an object that is a whole component is called, where it is no wheel.
std::string name_for(const Component& component);

ObjectRequest from_wheel(const Component& component, const PackageFile& file,
                         const Interpreter& interpreter);

/// Of a source with a URL and a digest of its own; nothing for other sources, and for files whose
/// form goldenv does not unpack.
std::optional<ObjectRequest> from_archive(const Component& component, const recipe::Source& source,
                                          const Interpreter& interpreter);

/// Of one part of a redist source; `alone`: it is the whole component.
ObjectRequest from_redist(const Component& component, const recipe::Source& source,
                          const RedistPart& part, bool alone, const Interpreter& interpreter);

/// What a redist source asks of its index.
RedistWish redist_wish(const Component& component, const recipe::Source& source,
                       const Interpreter& interpreter);

/// The first source of a kind; nullptr where there is none.
const recipe::Source* source_of(const Component& component, recipe::Kind kind);

}  // namespace goldenv::provision
