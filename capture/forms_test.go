package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWholeLogs reads logs of systems and versions in the forms that the engine,
// its runtime and the game give them everywhere; mods and what they say are
// invented.
func TestWholeLogs(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{
			"Linux, 1.4: OpenGL, Steam, footers, the crash report of an old Mono", `
Mono path[0] = '/home/mira/.local/share/Steam/steamapps/common/RimWorld/RimWorldLinux_Data/Managed'
Mono config path = '/home/mira/.local/share/Steam/steamapps/common/RimWorld/RimWorldLinux_Data/MonoBleedingEdge/etc'
Preloaded 'libsteam_api.so'
Preloaded 'ScreenSelector.so'
Display 0 'DELL U2719D 27"': 2560x1440 (primary device).
Display 1 '1': 1920x1080 (secondary device).
Desktop is 2560 x 1440 @ 60 Hz
[Vulkan init] extensions: count=18
[Vulkan init] extensions: name=VK_KHR_display, enabled=1
Vulkan detection: 2
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path /home/mira/.local/share/Steam/steamapps/common/RimWorld/RimWorldLinux_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
Renderer: NVIDIA GeForce GTX 1060/PCIe/SSE2
Vendor:   NVIDIA Corporation
Version:  4.5.0 NVIDIA 515.65.01
GLES:     0
 GL_AMD_multi_draw_indirect GL_AMD_seamless_cubemap_per_texture GL_ARB_arrays_of_arrays GL_KHR_no_error
OPENGL LOG: Creating OpenGL 4.5 graphics device ; Context level  <OpenGL 4.5> ; Context handle 69649624
Begin MonoManager ReloadAssembly
- Completed reload, in  0.936 seconds
Default vsync count 1
requesting resize 2560 x 1440
Using native desktop resolution 2560 x 1440
requesting fullscreen 2560 x 1440 at 0 Hz
Desktop is 2560 x 1440 @ 60 Hz
ERROR: Shader Sprites/Default shader is not supported on this GPU (none of subshaders/fallbacks are suitable)
WARNING: Shader Unsupported: 'Hidden/Post' - Pass '' has no vertex shader
WARNING: Shader Did you use #pragma only_renderers and omit this platform?
UnloadTime: 0.432241 ms
Setting breakpad minidump AppID = 294100
Steam_SetMinidumpSteamID:  Caching Steam ID:  76561190000000000 [API loaded no]
dlopen failed trying to load:
/home/mira/.steam/sdk64/steamclient.so
with error:
/home/mira/.steam/sdk64/steamclient.so: cannot open shared object file: No such file or directory
[S_API FAIL] SteamAPI_Init() failed; SteamAPI_IsSteamRunning() failed.
Command line arguments: -logfile /tmp/rimworld_log
RimWorld 1.4.3901 rev238
Fallback handler could not load library /home/mira/x/data-0x7f1a2b3c4d50.so
Parsed 2287142613 as int. 
(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39)

SymInit: Symbol-SearchPath: '.;C:\x', symOptions: 534, UserName: 'mira'
OS-Version: 10.0.0
C:\x\RimWorldWin64.exe:RimWorldWin64.exe (00007FF6A0000000), size: 675840 (result: 0), SymType: '-exported-', PDB: '', fileVersion: 2019.4.30.1
C:\x\UnityPlayer.dll:UnityPlayer.dll (00007FF8A0000000), size: 28000000 (result: 0), SymType: '-exported-', PDB: 'UnityPlayer.dll', fileVersion: 2019.4.30.1

Exception ticking Pawn12 (at (1, 0, 2)): System.Exception: boom ---> System.AggregateException: One or more errors occurred. ---> System.NullReferenceException: Object reference not set to an instance of an object
  at A.B () [0x00000] in <1>:0 
   --- End of inner exception stack trace ---
  at C.D () [0x00000] in <1>:0 
---> (Inner Exception #0) System.NullReferenceException: Object reference not set to an instance of an object
  at A.B () [0x00000] in <1>:0 <---
 
(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39)

ERROR: 0:3: '' :  extension 'GL_AMD_vertex_shader_layer' is not supported

Note: Creation of internal variant of shader 'Hidden/InternalErrorShader' failed.
ShaderProgram is unsupported, but because jobified rendering is enabled the ShaderProgram can not be removed.
 
(Filename:  Line: 438)

GC Warning: Repeated allocation of very large block (appr. size 1048576):
	May lead to memory leak and poor performance
Unloading 11 Unused Serialized files (Serialized files now loaded: 9)
Unloading 99 unused Assets to reduce memory usage. Loaded Objects now: 30000.
Total: 41.5 ms (FindLiveObjects: 0.6 ms CreateObjectMapping: 0.1 ms MarkObjects: 40.9 ms  DeleteObjects: 0.01 ms)

Loading game from file Autosave-1 with mods:
  - ludeon.rimworld
Unloading 11 unused Assets to reduce memory usage. Loaded Objects now: 30000.
Total: 41.5 ms (FindLiveObjects: 0.6 ms CreateObjectMapping: 0.1 ms MarkObjects: 40.9 ms  DeleteObjects: 0.01 ms)

[Mod] hi
Stacktrace:

  at <unknown> <0xffffffff>
  at (wrapper managed-to-native) UnityEngine.Mesh.SetIndicesImpl (int,UnityEngine.MeshTopology) [0x00000] in <1>:0
  at Verse.Map.MapUpdate () [0x00010] in <1>:0
  at (wrapper runtime-invoke) object.runtime_invoke_void__this__ (object,intptr,intptr,intptr) [0x0005e] in <1>:0

Native stacktrace:

	/opt/libmonobdwgc-2.0.so(+0xc8a9f) [0x7f0a1c0c8a9f]
	/lib/x86_64-linux-gnu/libpthread.so.0(+0x128a0) [0x7f0a2c0128a0]

Debug info from gdb:

ptrace: Operation not permitted.
No threads.

=================================================================
Got a SIGSEGV while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries 
used by your application.
=================================================================

`, `
1-26 each line info/no-footer
27-27 line unknown/none 0 frames: ERROR: Shader Sprites/Default shader is 
28-29 each line warning/tag
30-32 each line info/no-footer
33-36 list info/no-footer 0 frames: dlopen failed trying to load:
37-40 each line info/no-footer
41-42 footer warning/footer 0 frames: Parsed 2287142613 as int.
44-47 block info/no-footer 0 frames: SymInit: Symbol-SearchPath: '.;C:\x', sy
49-56 footer error/exception 4 frames: Exception ticking Pawn12 (at (1, 0, 2)):
58-63 footer warning/footer 0 frames: ERROR: 0:3: '' :  extension 'GL_AMD_vert
65-66 indent unknown/none 0 frames: GC Warning: Repeated allocation of very 
67-67 line info/no-footer 0 frames: Unloading 11 Unused Serialized files (Se
68-69 blank info/no-footer 0 frames: Unloading 99 unused Assets to reduce mem
71-72 indent info/no-footer 0 frames: Loading game from file Autosave-1 with m
73-74 blank info/no-footer 0 frames: Unloading 11 unused Assets to reduce mem
76-76 line info/no-footer 0 frames: [Mod] hi
77-98 block fatal/crash 4 frames: Stacktrace:
`,
		},
		{
			"macOS, 1.5: Metal, footers, the crash report of Unity and of Mono", `
Mono path[0] = '/Users/mira/Library/Application Support/Steam/steamapps/common/RimWorld/RimWorldMac.app/Contents/Resources/Data/Managed'
Mono config path = '/Users/mira/Library/Application Support/Steam/steamapps/common/RimWorld/RimWorldMac.app/Contents/MonoBleedingEdge/etc'
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path /Users/mira/RimWorldMac.app/Contents/Resources/Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
 preferred device: Apple M1 (high power)
Metal devices available: 1
0: Apple M1 (high power)
Using device Apple M1 (high power)
Initializing Metal device caps: Apple M1
Begin MonoManager ReloadAssembly
- Completed reload, in  0.636 seconds
Using native desktop resolution 1440 x 900
UnloadTime: 0.432241 ms
RimWorld 1.5.4104 rev435
Config error in OA_Lantern: has 0 commonality. 
(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39)

Shader 'Custom/Lantern': fallback shader 'Standard' not found
Metal: Error creating pipeline state (Custom/Lantern): Vertex attribute 3 is missing
(null)
NullReferenceException: Object reference not set to an instance of an object
  at A.B () [0x00000] in <1>:0 
 
(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39)

Unloading 99 unused Assets to reduce memory usage. Loaded Objects now: 30000.
Total: 41.5 ms (FindLiveObjects: 0.6 ms CreateObjectMapping: 0.1 ms MarkObjects: 40.9 ms  DeleteObjects: 0.01 ms)

Receiving unhandled NULL exception
#0	0x000001154d6a18 in _sigtramp
#1	0x0000010f1a2b3c in Shader::Foo(int, char const*)
Obtained 13 stack frames.
#0  0x000001154d6a18 in _sigtramp
#1  0x0000010f1a2b3c in Shader::Foo(int, char const*)
#2  0x0000010f1a2b3d in (wrapper managed-to-native) UnityEngine.Graphics:Draw (int)

=================================================================
	Native Crash Reporting
=================================================================
Got a SIGABRT while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries 
used by your application.
=================================================================
Obtained 13 stack frames.
Thread 0x70000507b000 may have been prematurely finalized
`, `
1-15 each line info/no-footer
16-17 footer warning/footer 0 frames: Config error in OA_Lantern: has 0 common
19-19 line info/no-footer 0 frames: Shader 'Custom/Lantern': fallback shader
20-20 line unknown/none 0 frames: Metal: Error creating pipeline state (Cu
21-21 line info/no-footer 0 frames: (null)
22-25 footer error/exception 1 frames: NullReferenceException: Object reference
27-28 blank info/no-footer 0 frames: Unloading 99 unused Assets to reduce mem
30-46 block fatal/crash 5 frames: Receiving unhandled NULL exception
`,
		},
		{
			"Linux, 1.6: Vulkan, exceptions of every form, an exit in order", `
Mono path[0] = '/opt/games/rimworld/RimWorldLinux_Data/Managed'
Mono config path = '/opt/games/rimworld/RimWorldLinux_Data/MonoBleedingEdge/etc'
Preloaded 'ScreenSelector.so'
[UnityMemory] Configuration Parameters - Can be set up in boot.config
    "memorysetup-bucket-allocator-granularity=16"
    "memorysetup-bucket-allocator-bucket-count=8"
[Physics::Module] Initialized MultithreadedJobDispatcher with 7 workers.
Initialize engine version: 2022.3.35f1 (011206c7a712)
[Subsystems] Discovering subsystems at path /opt
GfxDevice: creating device client; threaded=1; jobified=1
[Vulkan init] extensions: count=21
[Vulkan init] SelectPhysicalDevice requestedDeviceIndex=-1 xrDevice=(nil)
[Vulkan init] Physical Device 0x1160c810 [0]: "Intel(R) Graphics" deviceType=1 vendorID=8086 deviceID=a7a8
Vulkan API version 1.3.0 -- Engine version 1 -- Driver version 0.401.4
 preferred
Vulkan PSO: cache data not found [path=/home/mira/vulkan_pso_cache.bin]
Begin MonoManager ReloadAssembly
- Loaded All Assemblies, in  0.097 seconds
- Finished resetting the current domain, in  0.004 seconds
[Physics::Module] Selected backend.
[Physics::Module] Name: PhysX
requesting resize 1536 x 1135
InitializeOrResetSwapChain 1536x1135 hdr=0 samples=1
UnloadTime: 0.426241 ms
RimWorld 1.6.4633 rev1240
The file '/opt/Data/level0' is corrupted! Remove it and launch unity again!
[Position out of bounds!]
ReflectionTypeLoadException getting types in assembly Lantern: System.Reflection.ReflectionTypeLoadException: Exception of type 'System.Reflection.ReflectionTypeLoadException' was thrown.
  at (wrapper managed-to-native) System.Reflection.Assembly.GetTypes(System.Reflection.Assembly,bool)
  at System.Reflection.Assembly.GetTypes () [0x00000] in <1>:0 
System.TypeLoadException: Could not resolve type with token 01000011 (from typeref, class/assembly X, Y, Version=1.0) assembly:Y type:X member:(null)
System.TypeLoadException: Could not resolve type with token 01000012 (from typeref, class/assembly X, Y, Version=1.0) assembly:Y type:X member:(null)

Loader exceptions:
   => System.TypeLoadException: Could not resolve type with token 01000011
   => System.IO.FileNotFoundException: Could not load file or assembly 'Y'
File name: 'Y'
[Lantern] next
Could not execute post-long-event action. Exception: System.TypeInitializationException: The type initializer for 'X.Y' threw an exception. ---> System.Exception: first line
second line of it
  at X.Y..cctor () [0x00000] in <1>:0 
   --- End of inner exception stack trace ---
  at Verse.LongEventHandler.ExecuteToExecuteWhenFinished () [0x00000] in <1>:0 
[Ref 7F2B] Duplicate stacktrace, see ref for original
Exception in tick: System.AggregateException: One or more errors occurred. (a) (b) ---> System.Exception: a
  at A.B () [0x00000] in <1>:0 
   --- End of inner exception stack trace ---
  at A.C () [0x00000] in <1>:0 
---> (Inner Exception #0) System.Exception: a
  at A.B () [0x00000] in <1>:0 <---

---> (Inner Exception #1) System.Exception: b
  at A.B () [0x00000] in <1>:0 <---

[Lantern] after aggregate
HarmonyLib.HarmonyException: Patching exception in method virtual System.Void X.Y::Z() ---> System.Exception: IL Compile Error (unknown location)
Details: method body is not valid
  at HarmonyLib.PatchProcessor.Patch () [0x00000] in <1>:0 
Rethrow as HarmonyException: Patching exception
  at HarmonyLib.Harmony.PatchAll () [0x00000] in <1>:0 
TypeLoadException: Could not set up parent class, due to: Could not load list of method overrides due to Method not found

TargetInvocationException: Exception has been thrown by the target of an invocation. ---> System.Exception: x
  at A.B () [0x00000] in <1>:0 
Rethrow as TargetInvocationException: Exception has been thrown by the target of an invocation.
  at A.C () [0x00000] in <1>:0 
UnityEngine.Debug:LogError (object)

Exception in quest Lantern: System.Exception: x
  at A.B () [0x00000] in <1>:0 

Slate vars:

points=100
map=Map_0
[Lantern] hi
System.NullReferenceException: Object reference not set to an instance of an object
[Ref 12AB]
 at A.B () [0x00000] in <1>:0 
     - TRANSPILER some.mod: IEnumerable` + "`" + `1 A.Patch:Transpiler(IEnumerable` + "`" + `1 instructions)
     - PREFIX some.mod: Boolean A.Patch:Prefix(Thing t)
 at A.C () [0x00000] in <1>:0 
 (wrapper dynamic-method) A.D_Patch1 (A)
Exception ticking Lantern1 (at (1, 0, 2)): System.InvalidOperationException: Collection was modified; enumeration operation may not execute.
  at System.Collections.Generic.List` + "`" + `1+Enumerator[T].MoveNextRare () [0x00013] in <1>:0 
  at (wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition.Verse.Thing.Tick_Patch2(Verse.Thing)
  at A.<>c__DisplayClass0_0.<B>b__0 (System.Object _) <0x41e3a5b0 + 0x000b3> in <1>:0 
--- End of stack trace from previous location where exception was thrown ---

  at System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw () [0x00000] in <1>:0 
Memory Statistics:
[ALLOC_TEMP_TLS] TLS Allocator
  StackAllocators : 
[ALLOC_DEFAULT] Dual Thread Allocator
  Peak main deferred allocation count 57
##utp:{"type":"MemoryLeaks","version":2}
[Physics::Module] Cleanup current backend.
Input System module state changed to: ShutdownInProgress.
Input System polling thread exited.
Input System module state changed to: Shutdown.
`, `
1-3 each line unknown/none
4-6 indent unknown/none 0 frames: [UnityMemory] Configuration Parameters -
7-27 each line unknown/none
28-37 form error/exception 2 frames: ReflectionTypeLoadException getting type
38-38 line unknown/none 0 frames: [Lantern] next
39-44 frame error/exception 3 frames: Could not execute post-long-event action
45-53 frame error/exception 5 frames: Exception in tick: System.AggregateExcep
55-55 line unknown/none 0 frames: [Lantern] after aggregate
56-60 frame error/exception 3 frames: HarmonyLib.HarmonyException: Patching ex
61-61 blank error/exception 0 frames: TypeLoadException: Could not set up pare
63-67 frame error/console 4 frames: TargetInvocationException: Exception has
69-70 frame error/exception 1 frames: Exception in quest Lantern: System.Excep
72-72 blank unknown/none 0 frames: Slate vars:
74-76 each line unknown/none
77-83 frame error/exception 5 frames: System.NullReferenceException: Object re
84-90 frame error/exception 5 frames: Exception ticking Lantern1 (at (1, 0, 2)
91-95 block unknown/none 0 frames: Memory Statistics:
96-100 each line unknown/none
`,
		},
		{
			"the console of 1.1: levels from frames with arguments in the old form", `
RimWorld 1.1.2654 rev1005
Verse.Log:Message(String, Boolean)
RimWorld.VersionControl:LogVersionNumber()
Verse.Root:CheckGlobalInit()

Could not resolve cross-reference: No Verse.SoundDef named OA found to give to Verse.Tool
Verse.Log:Error(String, Boolean)
Verse.DirectXmlCrossRefLoader:ResolveAllWantedCrossReferences(FailMode)
Verse.PlayDataLoader:DoPlayLoad()
Verse.<>c:<UpdateCurrentAsynchronousEvent>b__27_0()

Exception ticking Lantern1 (at (1, 0, 2)): System.NullReferenceException: Object reference not set to an instance of an object
  at Lantern.Comp.Tick () [0x00000] in <1>:0 
  at Verse.TickList.Tick () [0x00000] in <1>:0 
Verse.Log:Error(String, Boolean)
Verse.TickList:Tick()
(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.TickManager.DoSingleTick_Patch2(TickManager)

Tobin has no tool
Verse.Log:ErrorOnce(String, Int32, Boolean)
Lantern.Foo:Bar()

Something odd
UnityEngine.Debug:LogWarning(Object)
Lantern.Foo:Bar()

NullReferenceException: Object reference not set to an instance of an object
  at Lantern.Comp.OnGUI () [0x00000] in <1>:0 
UnityEngine.DebugLogHandler:Internal_LogException(Exception, Object)
UnityEngine.DebugLogHandler:LogException(Exception, Object)
UnityEngine.Logger:LogException(Exception, Object)
UnityEngine.Debug:LogException(Exception)
Lantern.Foo:Bar()

Mod list
 - a
 - b
No stack trace.

Hello
No stack trace.
`, `
1-4 frame info/console 3 frames: RimWorld 1.1.2654 rev1005
6-10 frame error/console 4 frames: Could not resolve cross-reference: No Ve
12-17 frame error/console 5 frames: Exception ticking Lantern1 (at (1, 0, 2)
19-21 frame error/console 2 frames: Tobin has no tool
23-25 frame warning/console 2 frames: Something odd
27-33 frame error/console 6 frames: NullReferenceException: Object reference
35-38 form unknown/none 0 frames: Mod list
40-41 form unknown/none 0 frames: Hello
`,
		},
		{
			"the console of 1.5: references, blank lines in a text, a message without text", `
Exception in Verse.AI.ThinkNode_Priority TryIssueJobPackage: System.NullReferenceException: Object reference not set to an instance of an object
[Ref 3FA1B2C4]
 at Lantern.JobGiver.TryGiveJob (Verse.Pawn pawn) [0x00007] in <7ae3>:0
 at Verse.AI.ThinkNode_JobGiver.TryIssueJobPackage (Verse.Pawn pawn, Verse.AI.JobIssueParams jobParams) [0x00000] in <7ae3>:0
     - PREFIX lowmarsh.lantern: Boolean A.B:Prefix(Pawn pawn)
UnityEngine.StackTraceUtility:ExtractStackTrace ()
(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.Log.Error_Patch3 (string)
Verse.AI.ThinkNode_Priority:TryIssueJobPackage (Verse.Pawn,Verse.AI.JobIssueParams)
(wrapper dynamic-method) Verse.AI.Pawn_JobTracker:Verse.AI.Pawn_JobTracker.JobTrackerTick_Patch2 (Verse.AI.Pawn_JobTracker)
Verse.TickManager:DoSingleTick ()
Verse.Root:Update ()
Verse.Root_Play:Update ()

Exception in Verse.AI.ThinkNode_Priority TryIssueJobPackage: System.NullReferenceException: Object reference not set to an instance of an object
[Ref 3FA1B2C4] Duplicate stacktrace, see ref for original
UnityEngine.StackTraceUtility:ExtractStackTrace ()
Verse.Log:Error (string)
Verse.AI.ThinkNode_Priority:TryIssueJobPackage (Verse.Pawn,Verse.AI.JobIssueParams)

Error in static constructor of Lantern.Startup: System.TypeInitializationException: The type initializer for 'Lantern.Startup' threw an exception. ---> System.Exception: several
lines of it

and a blank one
  at Lantern.Startup..cctor () [0x00000] in <1>:0 
   --- End of inner exception stack trace ---
  at (wrapper managed-to-native) System.Runtime.CompilerServices.RuntimeHelpers.RunClassConstructor(intptr)
UnityEngine.StackTraceUtility:ExtractStackTrace ()
Verse.Log:Error (string)
Verse.StaticConstructorOnStartupUtility:CallAll ()

Initializing new game with mods:
  - brrainz.harmony
  - ludeon.rimworld

UnityEngine.StackTraceUtility:ExtractStackTrace ()
Verse.Log:Message (string)
Verse.Game:InitNewGame ()
Verse.Root_Play/<>c:<Start>b__1_1 ()

Verse.Log:Error (string)
Lantern.Foo:Bar ()
`, `
1-12 frame error/console 10 frames: Exception in Verse.AI.ThinkNode_Priority
14-18 frame error/console 6 frames: Exception in Verse.AI.ThinkNode_Priority
20-29 frame error/console 6 frames: Error in static constructor of Lantern.S
31-38 frame info/console 4 frames: Initializing new game with mods:
40-41 frame error/console 1 frames: Verse.Log:Error (string)
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				in := strings.ReplaceAll(strings.TrimPrefix(c.in, "\n"), "\n", eol)
				recs := covered(t, in)
				require.Equal(t, strings.TrimPrefix(c.want, "\n"), outline(recs))
			}
		})
	}
}
