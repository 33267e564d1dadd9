package main

import "fmt"

// crash14Linux is a Linux log of 2019.4: three games are loaded, the menu comes
// up in between, and the third one ends in a crash as an old Mono reports it.
// Messages of several lines stand among those with and without footers.
func crash14Linux() *capture {
	c := unix(unity2019_4)
	c.lines(`
Mono path[0] = '/opt/games/rimworld-1.4/RimWorldLinux_Data/Managed'
Mono config path = '/opt/games/rimworld-1.4/RimWorldLinux_Data/MonoBleedingEdge/etc'
Preloaded 'libsteam_api.so'
Preloaded 'ScreenSelector.so'
Display 0 'BenQ GW2480 24"': 1920x1080 (primary device).
Desktop is 1920 x 1080 @ 60 Hz
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path /opt/games/rimworld-1.4/RimWorldLinux_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
Renderer: AMD Radeon RX 580 Series (polaris10, LLVM 15.0.7, DRM 3.49, 6.1.0-18-amd64)
Vendor:   AMD
Version:  4.6 (Core Profile) Mesa 22.3.6
GLES:     0
 GL_ARB_multisample GL_EXT_abgr GL_EXT_bgra GL_EXT_blend_color GL_KHR_no_error
OPENGL LOG: Creating OpenGL 4.5 graphics device ; Context level  <OpenGL 4.5> ; Context handle 38410912
Begin MonoManager ReloadAssembly
- Completed reload, in  0.806 seconds
Default vsync count 1
requesting resize 1920 x 1080
requesting fullscreen 1920 x 1080 at 0 Hz
Desktop is 1920 x 1080 @ 60 Hz
UnloadTime: 0.401220 ms
Setting breakpad minidump AppID = 294100
dlopen failed trying to load:
/home/tobin/.steam/sdk64/steamclient.so
with error:
/home/tobin/.steam/sdk64/steamclient.so: cannot open shared object file: No such file or directory
[S_API FAIL] SteamAPI_Init() failed; SteamAPI_IsSteamRunning() failed.
RimWorld 1.4.3901 rev238
`)
	modsReady(c)
	c.warn("Config error in OA_HiveClay: has 0 commonality.")
	c.warn("Could not read the almanac: System.Xml.XmlException: the text has\nseveral roots, of which only\nthe first was read\n" +
		"  at System.Xml.XmlTextReaderImpl.Throw (System.Exception e) [0x00027] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 \n" +
		"  at LanternFestival.Almanac.Read () [0x00008] in <8c7b6a59483726150493827160594837>:0 ")
	c.native("ERROR: 0:3: '' :  extension 'GL_AMD_vertex_shader_layer' is not supported\n\n"+
		"Note: Creation of internal variant of shader 'Hidden/InternalErrorShader' failed.\n"+
		"ShaderProgram is unsupported, but because jobified rendering is enabled the ShaderProgram can not be removed.", 438)
	c.unload(6, 84, 25112)
	for game, name := range []string{"Kestrel Rock", "Пристань", "Kestrel Rock"} {
		c.linef("UnloadTime: 0.%d ms", 610200+game*1733)
		c.unload(3, 12+game, 25400)
		c.loading(name, mods[1:4]...)
		c.linef("[Lantern Festival][WARN] %d lanterns have no oil", game+2)
		c.unload(2, 150+game, 41207)
		for i := range 14 {
			c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%4+1, 20+i*3, 40+game*9)
		}
		if game == 0 { // back to the menu, where settings name what is gone
			c.linef("UnloadTime: 0.%d ms", 588100)
			c.unload(1, 31, 25608)
			c.warn("Could not load reference to Verse.ThingDef named OA_LanternOld")
		}
	}
	c.warn("Exception ticking OA_Ferry7741 (at (62, 0, 118)). Suppressing further errors. Exception: System.AggregateException: One or more errors occurred. ---> System.InvalidOperationException: the ferry\nhas no river\n" +
		"  at Riverboats.Ferry.Tick () [0x0001c] in <8c7b6a59483726150493827160594837>:0 \n" +
		"   --- End of inner exception stack trace ---\n" +
		"  at Verse.TickList.Tick () [0x0015c] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 \n" +
		"---> (Inner Exception #0) System.InvalidOperationException: the ferry\nhas no river\n" +
		"  at Riverboats.Ferry.Tick () [0x0001c] in <8c7b6a59483726150493827160594837>:0 <---")
	for i := range 6 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%4+1, 60+i, 99)
	}
	c.lines(`
Stacktrace:

  at <unknown> <0xffffffff>
  at (wrapper managed-to-native) UnityEngine.Graphics.Internal_DrawMesh_Injected (UnityEngine.Mesh,int,UnityEngine.Matrix4x4&,UnityEngine.Material,int) [0x00000] in <5b6a798897a6b5c4d3e2f10112233445>:0
  at Riverboats.FerryRenderer.Draw (UnityEngine.Vector3) [0x00092] in <8c7b6a59483726150493827160594837>:0
  at Verse.Root_Play.Update () [0x000ce] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0
  at (wrapper runtime-invoke) object.runtime_invoke_void__this__ (object,intptr,intptr,intptr) [0x0004f] in <eae5a4b3c2d1e0f9887766554433221a>:0

Native stacktrace:

	/opt/games/rimworld-1.4/RimWorldLinux_Data/MonoBleedingEdge/x86_64/libmonobdwgc-2.0.so(+0xc8d05) [0x7f1e6c0c8d05]
	/lib/x86_64-linux-gnu/libc.so.6(+0x3bfd0) [0x7f1e7fa3bfd0]
	/opt/games/rimworld-1.4/UnityPlayer.so(+0x5a01c9) [0x7f1e7e5a01c9]

Debug info from gdb:

ptrace: Operation not permitted.
No threads.

=================================================================
Got a SIGSEGV while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries 
used by your application.
=================================================================

`)
	return c
}

// crash15Mac is a macOS log of 2019.4: play data fails to load in part, a new
// game is begun, and the graphics driver takes the process with it.
func crash15Mac() *capture {
	c := unix(unity2019_4)
	const app = "/Applications/RimWorld/RimWorldMac.app/Contents"
	c.linef("Mono path[0] = '%s/Resources/Data/Managed'\nMono config path = '%s/MonoBleedingEdge/etc'", app, app)
	c.lines(`
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path ` + app + `/Resources/Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
 preferred device: Apple M2 (high power)
Metal devices available: 1
0: Apple M2 (high power)
Using device Apple M2 (high power)
Initializing Metal device caps: Apple M2
Begin MonoManager ReloadAssembly
- Completed reload, in  0.521 seconds
Using native desktop resolution 3024 x 1964
UnloadTime: 0.290310 ms
RimWorld 1.5.4243 rev1092
`)
	for i := range 3 {
		c.linef("Fallback handler could not load library %s/Frameworks/MonoEmbedRuntime/osx/data-%X.dylib", app,
			0x7FA3_1C40_2E00+i*0x11400)
	}
	modsReady(c)
	c.warn("ReflectionTypeLoadException getting types in assembly QuarryPlus: System.Reflection.ReflectionTypeLoadException: Exception of type 'System.Reflection.ReflectionTypeLoadException' was thrown.\n" +
		"Could not load file or assembly 'PikestaffCommon, Version=2.0.0.0, Culture=neutral, PublicKeyToken=null' or one of its dependencies.\n" +
		"  at (wrapper managed-to-native) System.Reflection.Assembly.GetTypes(System.Reflection.Assembly,bool)\n" +
		"  at Verse.ModAssemblyHandler.AssemblyIsUsable (System.Reflection.Assembly asm) [0x00000] in <7c1d2e3f4a5b46c78d9e0f1a2b3c4d5e>:0 \n" +
		"System.IO.FileNotFoundException: Could not load file or assembly 'PikestaffCommon, Version=2.0.0.0, Culture=neutral, PublicKeyToken=null' or one of its dependencies.\n" +
		"File name: 'PikestaffCommon, Version=2.0.0.0, Culture=neutral, PublicKeyToken=null'\n" +
		"\nLoader exceptions:\n" +
		"   => System.IO.FileNotFoundException: Could not load file or assembly 'PikestaffCommon, Version=2.0.0.0'")
	for i := range 8 {
		c.warnf("Could not resolve cross-reference to Verse.ThingDef named QP_Stone%s (wanter=costList)",
			pick([]string{"Marl", "Chert", "Tuff", "Gabbro"}, i))
	}
	c.line("Shader 'Custom/OA_Ripples': fallback shader 'Transparent/Diffuse' not found")
	c.unload(5, 66, 24003)
	c.line("UnloadTime: 0.512000 ms")
	c.unload(2, 9, 24110)
	c.line("Initializing new game with mods:\n  - Ludeon.RimWorld\n  - oakapple.riverboats")
	c.unload(2, 133, 39981)
	for i := range 30 {
		c.linef("Riverboats :: ferry %d landed at (%d, 0, %d)", i%4+1, 11+i*2, 71)
		if i%10 == 9 {
			c.warn(fmt.Sprintf("Exception in FerryRenderer.OnGUI: System.NullReferenceException: Object reference not set to an instance of an object\n"+
				"  at Riverboats.FerryRenderer.OnGUI () [0x%05x] in <8c7b6a59483726150493827160594837>:0 ", 8+i))
		}
	}
	c.lines(`
Receiving unhandled NULL exception
Obtained 7 stack frames.
#0  0x000001a2b3c4d5 in _sigtramp
#1  0x00000117f0a2b4 in AGX::RenderContext<AGX::HAL200::Encoders>::setPipeline(AGX::RenderPipeline const*)
#2  0x00000104a1c2d8 in GfxDeviceMetal::DrawBuffers(unsigned int)
#3  0x0000014c8e1f20 in (wrapper managed-to-native) UnityEngine.Graphics:Internal_DrawMesh_Injected (UnityEngine.Mesh,int,UnityEngine.Matrix4x4&,UnityEngine.Material,int)
#4  0x0000014c8e1b10 in Riverboats.FerryRenderer:Draw (UnityEngine.Vector3)
#5  0x0000014c7d0044 in Verse.Root_Play:Update ()
#6  0x000001049901fc in PlayerMain(int, char const**)

=================================================================
	Native Crash Reporting
=================================================================
Got a SIGABRT while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries 
used by your application.
=================================================================

=================================================================
	Native stacktrace:
=================================================================
	0x14a0c8d05 - /Applications/RimWorld/RimWorldMac.app/Contents/Frameworks/libmonobdwgc-2.0.dylib : mono_dump_native_crash_info
	0x1a2b3c4d5 - /usr/lib/system/libsystem_platform.dylib : _sigtramp

=================================================================
	Telemetry Dumper:
=================================================================
Pkilling 0x16f1a7000x from 0x1f2b4c0c0x
Entering thread summarizer pause from 0x1f2b4c0c0x
Finished thread summarizer pause from 0x1f2b4c0c0x.

Waiting for dumping threads to resume

=================================================================
	Basic Fault Address Reporting
=================================================================
Memory around native instruction pointer (0x1a2b3c4d5):0x1a2b3c4c5  89 e5 48 89 f2 89 fe 65 48 8b 04 25 f0 00 00 00  ..H....eH..%....
0x1a2b3c4d5  48 8b 88 20 14 00 00 48 8b 38 5d ff e1 55 48 89  H.. ...H.8]..UH.

=================================================================
	Managed Stacktrace:
=================================================================
	  at <unknown> <0xffffffff>
	  at UnityEngine.Graphics:Internal_DrawMesh_Injected <0x00113>
	  at Riverboats.FerryRenderer:Draw <0x00092>
	  at Verse.Root_Play:Update <0x000ce>
=================================================================
Obtained 7 stack frames.
Thread 0x70000507b000 may have been prematurely finalized
`)
	return c
}
