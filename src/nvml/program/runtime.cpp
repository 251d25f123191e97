// What the program needs of a C++ run time and of a start-up file. The compiler's own would tie it
// to the glibc it was built with: __libc_start_main has a new version in 2.34. Nothing here runs
// constructors of globals; there are none.

#include <cstddef>
#include <new>

extern "C" {
void* malloc(std::size_t size);
void free(void* memory);
int goldenv_nvml_main(int count, char** words);
}

// The entry, as the ABIs of the two processors have it: count, words and environment on the stack,
// the loader's end function in a register. __libc_start_main(main, count, words, init, fini,
// loader's end, end of the stack); no init and fini.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  xorl %ebp, %ebp\n"
    "  movq %rdx, %r9\n"
    "  popq %rsi\n"
    "  movq %rsp, %rdx\n"
    "  andq $-16, %rsp\n"
    "  pushq %rax\n"
    "  pushq %rsp\n"
    "  xorl %r8d, %r8d\n"
    "  xorl %ecx, %ecx\n"
    "  leaq goldenv_nvml_main(%rip), %rdi\n"
    "  call *__libc_start_main@GOTPCREL(%rip)\n"
    "  hlt\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  mov x5, x0\n"
    "  ldr x1, [sp]\n"
    "  add x2, sp, #8\n"
    "  mov x6, sp\n"
    "  adrp x0, goldenv_nvml_main\n"
    "  add x0, x0, :lo12:goldenv_nvml_main\n"
    "  mov x3, #0\n"
    "  mov x4, #0\n"
    "  bl __libc_start_main\n"
    "  brk #0\n");
#endif

void* operator new(std::size_t size) {
  void* memory = malloc(size > 0 ? size : 1);
  if (memory == nullptr) {
    __builtin_trap();
  }
  return memory;
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, std::size_t) noexcept { free(memory); }

// What throws in libstdc++ ends the process here: to the one who waits for it, it died.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the library's.
namespace std {
[[noreturn]] void __throw_bad_alloc() { __builtin_trap(); }
[[noreturn]] void __throw_bad_array_new_length() { __builtin_trap(); }
[[noreturn]] void __throw_bad_function_call() { __builtin_trap(); }
[[noreturn]] void __throw_bad_optional_access() { __builtin_trap(); }
[[noreturn]] void __throw_length_error(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_logic_error(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_out_of_range(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_out_of_range_fmt(const char*, ...) { __builtin_trap(); }
}  // namespace std
// NOLINTEND(bugprone-reserved-identifier)
