//go:build !purego

#include "textflag.h"

// func planesAVX2(s string, t *planeTables) (n, x, y, z uint64)
//
// It reads 64 bytes, of which s is the first or the last, whichever are all in
// the page that s begins in: so it needs no copy of what is shorter.
TEXT ·planesAVX2(SB), NOSPLIT, $0-56
	MOVQ s_base+0(FP), SI
	MOVQ s_len+8(FP), DX
	MOVQ t+16(FP), DI
	XORL CX, CX
	MOVL SI, AX
	ANDL $4095, AX
	CMPL AX, $4032
	JBE  read
	MOVL $64, CX
	SUBL DX, CX
	SUBQ CX, SI

read:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	// Y4 and Y5: for each byte the bit of its row, which is its upper half.
	VBROADCASTI128 64(DI), Y2
	VBROADCASTI128 80(DI), Y3
	VPSRLW         $4, Y0, Y4
	VPSRLW         $4, Y1, Y5
	VPAND          Y3, Y4, Y4
	VPAND          Y3, Y5, Y5
	VPSHUFB        Y4, Y2, Y4
	VPSHUFB        Y5, Y2, Y5

	// The masks of what is 0x80 and above, in R8, and 0xe0 and above, in R12.
	VPMOVMSKB      Y0, R8
	VPMOVMSKB      Y1, R9
	SHLQ           $32, R9
	ORQ            R9, R8
	VBROADCASTI128 96(DI), Y2
	VPMAXUB        Y0, Y2, Y6
	VPMAXUB        Y1, Y2, Y7
	VPCMPEQB       Y0, Y6, Y6
	VPCMPEQB       Y1, Y7, Y7
	VPMOVMSKB      Y6, R12
	VPMOVMSKB      Y7, R9
	SHLQ           $32, R9
	ORQ            R9, R12

	VBROADCASTI128 (DI), Y2
	VPSHUFB        Y0, Y2, Y6
	VPSHUFB        Y1, Y2, Y7
	VPAND          Y4, Y6, Y6
	VPAND          Y5, Y7, Y7
	VPCMPEQB       Y4, Y6, Y6
	VPCMPEQB       Y5, Y7, Y7
	VPMOVMSKB      Y6, AX
	VPMOVMSKB      Y7, R9
	SHLQ           $32, R9
	ORQ            R9, AX

	VBROADCASTI128 16(DI), Y2
	VPSHUFB        Y0, Y2, Y6
	VPSHUFB        Y1, Y2, Y7
	VPAND          Y4, Y6, Y6
	VPAND          Y5, Y7, Y7
	VPCMPEQB       Y4, Y6, Y6
	VPCMPEQB       Y5, Y7, Y7
	VPMOVMSKB      Y6, BX
	VPMOVMSKB      Y7, R9
	SHLQ           $32, R9
	ORQ            R9, BX

	VBROADCASTI128 32(DI), Y2
	VPSHUFB        Y0, Y2, Y6
	VPSHUFB        Y1, Y2, Y7
	VPAND          Y4, Y6, Y6
	VPAND          Y5, Y7, Y7
	VPCMPEQB       Y4, Y6, Y6
	VPCMPEQB       Y5, Y7, Y7
	VPMOVMSKB      Y6, R10
	VPMOVMSKB      Y7, R9
	SHLQ           $32, R9
	ORQ            R9, R10

	VBROADCASTI128 48(DI), Y2
	VPSHUFB        Y0, Y2, Y6
	VPSHUFB        Y1, Y2, Y7
	VPAND          Y4, Y6, Y6
	VPAND          Y5, Y7, Y7
	VPCMPEQB       Y4, Y6, Y6
	VPCMPEQB       Y5, Y7, Y7
	VPMOVMSKB      Y6, R11
	VPMOVMSKB      Y7, R9
	SHLQ           $32, R9
	ORQ            R9, R11
	VZEROUPPER

	// Beyond ASCII, only planes of roleNarrow and roleOther are.
	ORQ  R12, BX
	ORQ  R12, R10
	ORQ  R12, R11
	XORQ R12, R8  // 0x80 to 0xdf
	ORQ  R8, AX
	SHRQ CX, AX
	SHRQ CX, BX
	SHRQ CX, R10
	SHRQ CX, R11
	MOVQ AX, n+24(FP)
	MOVQ BX, x+32(FP)
	MOVQ R10, y+40(FP)
	MOVQ R11, z+48(FP)
	RET

// func hasAVX2() bool
TEXT ·hasAVX2(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  AX, AX
	CPUID
	CMPL  AX, $7
	JB    no
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	ANDL  $0x18000000, CX // OSXSAVE, AVX
	CMPL  CX, $0x18000000
	JNE   no
	XORL  CX, CX
	XGETBV
	ANDL  $6, AX          // the system saves the registers
	CMPL  AX, $6
	JNE   no
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $5, BX
	ANDL  $1, BX
	MOVB  BX, ret+0(FP)

no:
	RET
