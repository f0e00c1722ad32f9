"""Name and features of the processor that numba compiles for.

Numba may compile for less than the machine has: after ``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES`` or ``NUMBA_ENABLE_AVX=0``, and
by itself on virtual machines that report an old processor.  LLVM ends the process if an instruction is requested that the target
lacks.  So each selection between two forms of an operation, and the name of the cache's folder, depend on this module.
"""

from numba.core.registry import cpu_target


def read_target() -> tuple[str, str]:
    """Return the processor's name and the text of its features, with which numba labels its machine code."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return name, features


CPU_NAME, _FEATURE_TEXT = read_target()

#: Features that AVX-512 requires: if one of them is switched off, LLVM drops AVX-512, whatever the text says about it.
_BASES_OF_AVX512 = {"sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma", "f16c"}


def parse_features(text: str) -> frozenset[str]:
    """Return the features that LLVM's text ``+a,-b,...`` switches on."""
    switched = {word[1:]: word[0] == "+" for word in text.split(",") if word}
    narrow = not all(switched.get(name, True) for name in _BASES_OF_AVX512)
    return frozenset(name for name, on in switched.items() if on and not (narrow and name.startswith("avx512")))


#: Features of the processor that numba compiles for, by LLVM's names.
FEATURES = parse_features(_FEATURE_TEXT)

#: Features that do not change the machine code of a kernel: instructions of the operating system, for random numbers, hashes
#: and ciphers, for transactions and for caches, which LLVM uses only where a program names them.  Nodes of one model differ
#: in some of them, by microcode and operating system.
NEUTRAL_FEATURES = """
    aes cldemote clflushopt clwb clzero enqcmd fsgsbase fxsr hreset invpcid kl lwp movdir64b movdiri mwaitx
    pclmul pconfig pku prefetchi prfchw ptwrite raoint rdpid rdpru rdrnd rdseed rtm serialize sgx sha sha512
    shstk sm3 sm4 tsxldtrk uintr usermsr vaes vpclmulqdq waitpkg wbnoinvd widekl xsave xsavec xsaveopt xsaves
"""


def keep_code_features(text: str) -> str:
    """Return LLVM's text of features, ``+a,-b,...``, without those that do not change machine code."""
    return ",".join(sorted(word for word in text.split(",") if word[1:] not in NEUTRAL_FEATURES.split()))
