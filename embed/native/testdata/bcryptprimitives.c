// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// A library of Windows that Go needs and that older Wine lacks.
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
