#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv {

/// `text` without blanks (space, tab, CR, LF, VT, FF) at either end.
std::string_view trim(std::string_view text);

/// The pieces between separators, in order, empty ones included: split("a,,b", ',') has three.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of a text without their line ends (LF or CR LF); no empty last line after a final LF.
std::vector<std::string_view> lines(std::string_view text);

/// The words between runs of blanks.
std::vector<std::string_view> words(std::string_view text);

// What they give looks into the text, which must not end with the call.
template <std::same_as<std::string> Gone>
std::vector<std::string_view> split(Gone&& text, char separator) = delete;
template <std::same_as<std::string> Gone>
std::vector<std::string_view> lines(Gone&& text) = delete;
template <std::same_as<std::string> Gone>
std::vector<std::string_view> words(Gone&& text) = delete;

/// The pieces with the separator between them.
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// The beginning of a text where it is longer, with "..." for the rest: for headlines and errors,
/// which repeat what another wrote. Ends between two UTF-8 sequences.
std::string shortened(std::string_view text, std::size_t bytes = 200);

/// A sentence with its long words so, and with its middle left out where it is longer than some
/// lines: what it says stands at both ends.
std::string shortened_sentence(std::string_view text);

/// ASCII only; the C locale's tolower depends on the user's settings.
std::string to_lower(std::string_view text);

/// A whole unsigned decimal number and nothing else; none on overflow.
std::optional<std::uint64_t> to_number(std::string_view text);

/// Whether `name` matches the glob: `?` and `*` stop at `.`, `**` does not.
bool glob_matches(std::string_view pattern, std::string_view name);

/// Edit distance (insert, delete, replace, swap of neighbours each cost 1), for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);

/// `bytes` as valid UTF-8: each byte that is none becomes U+FFFD.
std::string to_utf8(std::string_view bytes);

}  // namespace goldenv
