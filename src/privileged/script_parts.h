#pragma once

#include <string_view>

// The parts of a script that are the same for all plans, as they stand in it.
namespace goldenv::privileged {

/// Of the script: what keeps what is there, and what changes it. Needs base, state and step.
extern const std::string_view kKeepFiles;
extern const std::string_view kKeepValues;
extern const std::string_view kKeepChoice;
extern const std::string_view kKeepGovernors;
extern const std::string_view kKeepLink;
extern const std::string_view kKeepPackages;
extern const std::string_view kBoot;

/// Of the script, whatever the plan: its beginning behind the variables, and its end.
extern const std::string_view kBegin;
extern const std::string_view kEnd;

/// Of undo: its beginning behind the variables, what puts things back, and its end.
extern const std::string_view kUndoBegin;
extern const std::string_view kUndoFiles;
extern const std::string_view kUndoValues;
extern const std::string_view kUndoLink;
extern const std::string_view kUndoPackages;
extern const std::string_view kUndoEnd;

/// Of both: apt-get without questions.
extern const std::string_view kApt;

}  // namespace goldenv::privileged
