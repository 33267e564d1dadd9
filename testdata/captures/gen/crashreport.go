package main

// crashReport14 is the report that Unity's crash handler leaves on Windows, as error.log: a mod's drawing calls into
// the engine, which reads from an address that is none.
func crashReport14() *capture {
	c := windows(unity2019_4)
	c.lines(`
RimWorld by Ludeon Studios by Ludeon Studios [version: Unity 2019.4.30f1_e8c891080a1f]

UnityPlayer.dll caused an Access Violation (0xc0000005)
  in module UnityPlayer.dll at 0033:1a2b3c4d.

Error occurred at 2031-04-05_101112.
D:\Games\RimWorld\RimWorldWin64.exe, run by somebody.

51% physical memory in use.
16204 MB physical memory [7811 MB free].
9120 MB process peak paging file [6010 MB used].
7311 MB process peak working set [5202 MB used].
System Commit Total/Limit/Peak: 14010MB/29307MB/19044MB
System Physical Total/Available: 16204MB/7811MB
System Process Count: 201
System Thread Count: 2412
System Handle Count: 90110
Disk space data for 'C:\Users\somebody\AppData\Local\Temp\Ludeon Studios\RimWorld by Ludeon Studios\Crashes\Crash_2031-04-05_081112345\': 81234567890 bytes free of 511234567890 total.

Read from location 0000000000000018 caused an access violation.

Context:
RDI:    0x0000000000000000  RSI: 0x000000a1b2c3d440  RAX:   0x0000000000000000
RBX:    0x000000000000000c  RCX: 0x000001b290000140  RDX:   0x0000000000000018
RIP:    0x00007ff01a2b3c4d  RBP: 0x000000a1b2c3d2f9  SegCs: 0x0000000000000033


Bytes at CS:EIP:
48 8b 01 ff 50 18 48 8b d8 48 85 c0 74 1a 48 8b 

Mono DLL loaded successfully at 'D:\Games\RimWorld\MonoBleedingEdge\EmbedRuntime\mono-2.0-bdwgc.dll'.


Stack Trace of Crashed Thread 4242:
0x00007FF01A2B3C4D (UnityPlayer) UnityMain
0x00007FF01A2B3DCA (UnityPlayer) UnityMain
  ERROR: SymGetSymFromAddr64, GetLastError: 'Attempt to access invalid address.' (Address: 00007FF01A2B0F00)
0x00007FF01A2B0F00 (UnityPlayer) (function-name not available)
0x000001D2A0C413E0 (Mono JIT Code) (wrapper managed-to-native) UnityEngine.Graphics:Internal_DrawMesh_Injected (UnityEngine.Mesh,int,UnityEngine.Matrix4x4&,UnityEngine.Material,int,UnityEngine.Camera)
0x000001D2A0C411B0 (Mono JIT Code) Riverboats.FerryRenderer:Draw (UnityEngine.Vector3)
0x000001D2A0C40B08 (Mono JIT Code) (wrapper dynamic-method) Verse.DynamicDrawManager:DrawDynamicThings_Patch1 (Verse.DynamicDrawManager)
0x000001D2A0C40A51 (Mono JIT Code) Verse.Map:MapUpdate ()
0x000001D2A0C40873 (Mono JIT Code) Verse.Game:UpdatePlay ()
0x000001D2A0C40D1F (Mono JIT Code) Verse.Root_Play:Update ()
0x000001D2A0C3F0A7 (Mono JIT Code) (wrapper runtime-invoke) object:runtime_invoke_void__this__ (object,intptr,intptr,intptr)
0x00007FF0DECADE00 (mono-2.0-bdwgc) mono_runtime_invoke
0x00007FF0DECA7374 (KERNEL32) BaseThreadInitThunk
0x00007FF0DECACC91 (ntdll) RtlUserThreadStart

Stacks for Running Threads:

`)
	for i := range 12 {
		c.linef("Call Stack for Thread %d:", 4300+17*i)
		if i == 3 {
			c.line("0x000001D2A0D00010 (Mono JIT Code) QuarryPlus.Crusher:WorkerLoop ()")
		} else {
			c.line("<Missing stacktrace information>")
		}
		c.line("\n")
	}
	c.line("Stack Memory [0x000000A1B2C3D280-0x000000A1B2D00000]:\n")
	for i := range 24 {
		c.linef("0x%016x: 00000000 000000a1 0011223%d 00007ff0 ........3\"......", 0xa1b2c3d280+16*i, i%10)
	}
	c.lines(`

Module 1
C:\Windows\SYSTEM32\ntdll.dll
Image Base: 0xdeca0000  Image Size: 0x001f8000
File Size:  2028928   File Time:  2031-01-12_101010
Version:
   Company:    Some Corporation
   FileDesc:   NT Layer DLL


== [end of error.log] ==
`)
	return c
}
