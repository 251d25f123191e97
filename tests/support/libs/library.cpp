// The text that a stand-in library bears, where the real one has it: in .rodata. Source of which
// text stands where: docs of each fact in src/probe.
extern "C" {
extern const char goldenv_fixture_before[];
extern const char goldenv_fixture_text[];
const char goldenv_fixture_before[] = GOLDENV_FIXTURE_BEFORE;
const char goldenv_fixture_text[] = GOLDENV_FIXTURE_TEXT;
#ifdef GOLDENV_FIXTURE_DEFINES
void GOLDENV_FIXTURE_DEFINES();
void GOLDENV_FIXTURE_DEFINES() {}
#endif
#ifdef GOLDENV_FIXTURE_TAKES
void GOLDENV_FIXTURE_TAKES();
extern void (*const goldenv_fixture_taken)();
void (*const goldenv_fixture_taken)() = GOLDENV_FIXTURE_TAKES;
#endif
}
