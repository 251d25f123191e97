#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/reading.h"
#include "facts/snapshot.h"
#include "version/version.h"

namespace goldenv::facts {

/// What is wanted of one fact.
struct Want {
  enum class Kind {
    exact,       ///< value: equal to it, by the key's type
    any_of,      ///< any: one of these is met
    constraint,  ///< constraint: versions and numbers
    differs,     ///< value: anything but it (`!=` on a key without order)
    absent,      ///< must not be there
    any,         ///< nothing: drops an inherited pin
  };
  Kind kind = Kind::exact;
  Value value;
  std::vector<Want> any;
  version::Constraint constraint;

  friend bool operator==(const Want&, const Want&) = default;
};

/// What a manifest's YAML says is wanted, by the key's type. Text rules (DESIGN section 4):
/// `absent` and `any` are words (written ==absent, ==any where literal); a comparison operator, a
/// comma list or `.*` makes a constraint on versions, integers and numbers; behind `==` what has
/// not the form of the key's values is a text to the letter, behind `===` anything is (see
/// literal_text); a sequence is any-of,
/// but the value itself where the key is a list or set; a mapping is the value where the key is a
/// map or counts all instances. Bytes take suffixes (64MiB). A choice is one of its values; where
/// the kernel may have others (cpu.vendor) those are kept, but not what is nearly a listed one.
/// Errors: malformed with position.
Result<Want> parse_want(const Resolved& key, const doc::Node& node, std::string_view file);

/// Inverse of parse_want.
doc::Node to_node(const Resolved& key, const Want& want);

/// One line for people: ">=5.5", "2.19.3 or 2.20.5", "absent".
std::string describe(const Want& want);

/// Whether a reading is what is wanted. Unknown readings are unknown; a prefix that agrees as far
/// as it goes is unknown; one_of is met if any member meets it and none is ruled out (unknown where
/// some are); a tally is met only if every entry is; kernel ordered constraints look at `upstream`
/// (the reading of kernel.upstream), or at what the release says of it where that is not known. A
/// variable of which only the digest is known is compared by the digest of the wanted text.
Truth meets(const Entry& entry, const Want& want, const Reading& reading, const Reading& upstream);

/// The reading of a key, counted where the want counts: what all instances have in common as a
/// tally of the instances that the snapshot holds. Any other is given back.
Reading counted_for(const Want& want, const Snapshot& snapshot, const FactKey& key,
                    Reading reading);

/// Why `meets` cannot tell, for people, as the end of a sentence about the fact: "it is unknown
/// (denied)", "it is the text "debian", and text has no order"; "" where the reading says it all.
std::string why_undecided(const Entry& entry, const Want& want, const Reading& reading);

/// Whether two readings of one key are the same fact: yes, no, or unknown (one side is not known,
/// or their prefixes and one_ofs overlap). Numbers within the key's tolerance are the same;
/// kernel.cmdline is compared without identity words.
Truth same(const Entry& entry, const Reading& a, const Reading& b);

/// The words of a kernel command line that identify this machine or boot: root=, BOOT_IMAGE=,
/// resume=, ip= and their like (initrd=, nfsroot=, BOOTIF=, cryptdevice=, rd.luks.*, rd.lvm.*,
/// rd.md.*).
bool is_identity_parameter(std::string_view word);

}  // namespace goldenv::facts
