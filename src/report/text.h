#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv::report {

/// `text` fit for a terminal and a ticket: control characters, escape sequences, bidirectional
/// overrides and invisible characters are written out (\x1b, \u{202e}), a line end as \n, invalid
/// UTF-8 bytes as \xNN.
std::string printable(std::string_view text);

/// `text` as one word of a shell's command line, that can be pasted: as it is where no shell sees
/// more in it, else in quotes ($'...' of bash, zsh and ksh where a character cannot be shown).
std::string shell_word(std::string_view text);

/// How many columns a printable text takes: code points, wide East Asian ones as two.
std::size_t width(std::string_view text);

/// Whether and how to colour; colour only repeats what the words say.
enum class Colour { none, ansi };
enum class Ink { plain, bold, red, yellow, green, dim };
std::string paint(Colour colour, Ink ink, std::string_view text);

/// Rows of cells, each column as wide as its widest cell but the last. Cells are printable.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 0);

/// `count` and the word, with an s where it is not one: "1 difference", "2 differences".
std::string counted(std::size_t count, std::string_view word);

}  // namespace goldenv::report
