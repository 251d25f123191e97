// The program's bytes, for an executable that carries it.
__asm__(
    ".section .rodata\n"
    ".globl goldenv_nvml_program\n"
    "goldenv_nvml_program:\n"
    ".incbin \"" GOLDENV_NVML_PROGRAM
    "\"\n"
    ".globl goldenv_nvml_program_end\n"
    "goldenv_nvml_program_end:\n"
    ".byte 0\n"
    ".text\n");
