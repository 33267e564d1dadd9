package main

// crash16Linux is a log that ends in the middle of a fight, with the reports of
// the engine and of its runtime.
func crash16Linux() *capture {
	c := linux(unity2022_3)
	boot16Linux(c)
	modsReady(c)
	c.unload(5, 97, 28102)
	c.loading("Пристань", mods[:3]...)
	c.unload(2, 181, 47711)
	for i := range 40 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%4+1, 30+i, 12+i*3%90)
		if i%10 == 4 {
			c.linef("%s started 10 jobs in one tick. newJob=AttackMelee (Job_%d) A = Thing_Raider%d jobGiver=RimWorld.JobGiver_AIFightEnemies jobList=", pick(colonists, i), 700112+i*9, 11904+i)
		}
	}
	c.lines(`
Caught fatal signal - signo:11 code:1 errno:0 addr:0x18
Obtained 9 stack frames.
#0  0x007f3a5c442520 in __sigaction
#1  0x007f3a5a01c9d4 in (wrapper managed-to-native) UnityEngine.Graphics:Internal_DrawMesh_Injected (UnityEngine.Mesh,int,UnityEngine.Matrix4x4&,UnityEngine.Material,int,UnityEngine.Camera)
#2  0x007f3a5a01c71b in UnityEngine.Graphics:DrawMesh (UnityEngine.Mesh,UnityEngine.Matrix4x4,UnityEngine.Material,int)
#3  0x007f39f1a0c2e3 in Riverboats.FerryRenderer:Draw (UnityEngine.Vector3)
#4  0x007f39f19fbb08 in Verse.DynamicDrawManager:DrawDynamicThings ()
#5  0x007f39f19f0a51 in Verse.Map:MapUpdate ()
#6  0x007f39f19e8873 in Verse.Game:UpdatePlay ()
#7  0x007f39f19e0d1f in Verse.Root_Play:Update ()
#8  0x007f3a5c9d1b77 in mono_print_method_from_ip

=================================================================
	Native Crash Reporting
=================================================================
Got a SIGSEGV while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries 
used by your application.
=================================================================

=================================================================
	Native stacktrace:
=================================================================
	0x7f3a5c9e8d05 - /opt/games/rimworld/RimWorldLinux_Data/MonoBleedingEdge/x86_64/libmonobdwgc-2.0.so : 
	0x7f3a5c9e9031 - /opt/games/rimworld/RimWorldLinux_Data/MonoBleedingEdge/x86_64/libmonobdwgc-2.0.so : 
	0x7f3a5c442520 - /lib/x86_64-linux-gnu/libc.so.6 : 
	0x41a01c9d4 - Unknown

=================================================================
	External Debugger Dump:
=================================================================

=================================================================
	Basic Fault Address Reporting
=================================================================
instruction pointer is NULL, skip dumping
=================================================================
	Managed Stacktrace:
=================================================================
	  at <unknown> <0xffffffff>
	  at UnityEngine.Graphics:Internal_DrawMesh_Injected <0x00113>
	  at Riverboats.FerryRenderer:Draw <0x00092>
	  at Verse.Root_Play:Update <0x000ce>
=================================================================
`)
	return c
}

// crash14 is a game whose state is in doubt after an exception in a tick, and
// which goes on until it crashes.
func crash14() *capture {
	c := windows(unity2019_4)
	boot14(c)
	modsReady(c)
	c.unload(5, 71, 24410)
	c.loading("Moorland", mods[1:4]...)
	c.unload(2, 160, 40223)
	for i := range 20 {
		c.linef("Quarry Plus: quarry at (%d, 0, %d) yields %d chunks", 70+i, 20+i*3, i%3+1)
	}
	c.warn("Exception ticking QP_Crusher55120 (at (83, 0, 41)). Suppressing further errors. Exception: System.InvalidOperationException: Collection was modified; enumeration operation may not execute.\n" +
		"  at System.ThrowHelper.ThrowInvalidOperationException (System.ExceptionResource resource) [0x0000b] in <eae5a4b3c2d1e0f9887766554433221a>:0 \n" +
		"  at System.Collections.Generic.List`1+Enumerator[T].MoveNextRare () [0x00016] in <eae5a4b3c2d1e0f9887766554433221a>:0 \n" +
		"  at QuarryPlus.Building_Crusher.Tick () [0x00074] in <1a2b3c4d5e6f40718293a4b5c6d7e8f9>:0 \n" +
		"  at (wrapper dynamic-method) Verse.TickList.DMD<DMD<Tick_Patch1>?-129550128::Tick_Patch1>(Verse.TickList)")
	for i := range 60 {
		c.linef("Quarry Plus: quarry at (%d, 0, %d) yields 0 chunks", 70+i, 20+i*3)
		if i%6 == 5 {
			c.warnf("%s started 10 jobs in one tick. newJob=HaulToCell (Job_%d) A = Thing_ChunkSlate%d jobGiver=RimWorld.JobGiver_Work jobList=", pick(colonists, i), 330911+i*17, 55200+i)
		}
	}
	c.lines(`
Crash!!!
SymInit: Symbol-SearchPath: '.;E:\Spiele\RimWorld;E:\Spiele\RimWorld;C:\Windows;C:\Windows\system32;', symOptions: 534, UserName: 'player'
OS-Version: 10.0.0
E:\Spiele\RimWorld\RimWorldWin64.exe:RimWorldWin64.exe (00007FF6A1C40000), size: 667648 (result: 0), SymType: '-deferred-', PDB: '', fileVersion: 2019.4.30.51345
`)
	for i, m := range []string{"ntdll", "KERNEL32", "KERNELBASE", "USER32", "win32u", "GDI32", "gdi32full", "ucrtbase", "ole32", "RPCRT4", "combase", "WS2_32", "WINMM", "dbghelp"} {
		c.linef(`C:\Windows\System32\%s.dll:%s.dll (%016X), size: %d (result: 0), SymType: '-deferred-', PDB: '', fileVersion: 10.0.19041.%d`, m, m, 0x7FF9_1A20_0000+i*0x3A0000, 139264+i*98304, 546+i*31)
	}
	c.lines(`

========== OUTPUTTING STACK TRACE ==================

0x000001D2A0C413E0 (Mono JIT Code) QuarryPlus.ChunkCache/<All>d__6:MoveNext ()
0x000001D2A0C4466B (Mono JIT Code) QuarryPlus.Building_Crusher:NextChunk (Verse.Map)
0x000001D2A0C31DDD (Mono JIT Code) (wrapper dynamic-method) Verse.TickList:DMD<Verse.TickList::Tick> (Verse.TickList)
0x000001D2A0C3D803 (Mono JIT Code) (wrapper dynamic-method) Verse.TickManager:Verse.TickManager.DoSingleTick_Patch2 (Verse.TickManager)
0x000001D2A0B2BCA3 (Mono JIT Code) Verse.Root_Play:Update ()
0x000001D29F0AB180 (Mono JIT Code) (wrapper runtime-invoke) object:runtime_invoke_void__this__ (object,intptr,intptr,intptr)
0x00007FF91B10E270 (mono-2.0-bdwgc) mono_get_runtime_build_info
0x00007FF91B09BB3F (mono-2.0-bdwgc) mono_runtime_invoke
0x00007FF91C7A606D (UnityPlayer) UnityMain
  ERROR: SymGetSymFromAddr64, GetLastError: 'Attempt to access invalid address.' (Address: 00007FF91C67751E)
0x00007FF91C67751E (UnityPlayer) (function-name not available)
0x00007FF9859E1C54 (KERNEL32) BaseThreadInitThunk
0x00007FF987212A41 (ntdll) RtlUserThreadStart

========== END OF STACKTRACE ===========
`)
	return c
}
