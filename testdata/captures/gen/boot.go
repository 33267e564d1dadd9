package main

// boot12 writes the beginning of a log of 2019.2.
func boot12(c *capture) {
	c.lines(`
Mono path[0] = 'D:/Games/RimWorld 1.2/RimWorldWin64_Data/Managed'
Mono config path = 'D:/Games/RimWorld 1.2/MonoBleedingEdge/etc'
Initialize engine version: 2019.2.17f1 (8e603399ca02)
[XR] Discovering subsystems at path D:/Games/RimWorld 1.2/RimWorldWin64_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
Direct3D:
    Version:  Direct3D 11.0 [level 11.1]
    Renderer: NVIDIA GeForce GTX 970 (ID=0x13c2)
    Vendor:   
    VRAM:     4043 MB
    Driver:   26.21.14.4120
Begin MonoManager ReloadAssembly
- Completed reload, in  0.914 seconds
`)
	c.crcrlf("<RI> Initializing input.")
	c.crcrlf("<RI> Input initialized.")
	c.crcrlf("<RI> Initialized touch support.")
	c.line("UnloadTime: 0.412700 ms")
	c.line("RimWorld 1.2.2753 rev711")
	c.fallback("D:/Games/RimWorld 1.2/RimWorldWin64_Data/Mono", 9)
}

// boot14 writes the beginning of a log of 2019.4.
func boot14(c *capture) {
	c.lines(`
Mono path[0] = 'E:/Spiele/RimWorld/RimWorldWin64_Data/Managed'
Mono config path = 'E:/Spiele/RimWorld/MonoBleedingEdge/etc'
Initialize engine version: 2019.4.30f1 (e8c891080a1f)
[Subsystems] Discovering subsystems at path E:/Spiele/RimWorld/RimWorldWin64_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1
Direct3D:
    Version:  Direct3D 11.0 [level 11.1]
    Renderer: Intel(R) Iris(R) Xe Graphics (ID=0x9a49)
    Vendor:   
    VRAM:     8069 MB
    Driver:   30.0.101.1404
Begin MonoManager ReloadAssembly
- Completed reload, in  1.702 seconds
`)
	c.crcrlf("<RI> Initializing input.")
	c.crcrlf("<RI> Input initialized.")
	c.line("D3D11 device created for Microsoft Media Foundation video decoding.")
	c.crcrlf("<RI> Initialized touch support.")
	c.line("UnloadTime: 0.688200 ms")
	c.line("RimWorld 1.4.3682 rev418")
	c.fallback("E:/Spiele/RimWorld/RimWorldWin64_Data/Mono", 12)
}

// boot16 writes the beginning of a log of 2022.3 on Windows.
func boot16(c *capture) {
	c.lines(`
Mono path[0] = 'D:/Games/RimWorld/RimWorldWin64_Data/Managed'
Mono config path = 'D:/Games/RimWorld/MonoBleedingEdge/etc'
[PhysX] Initialized MultithreadedTaskDispatcher with 16 workers.
Initialize engine version: 2022.3.35f1 (011206c7a712)
[Subsystems] Discovering subsystems at path D:/Games/RimWorld/RimWorldWin64_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1; jobified=0
Direct3D:
    Version:  Direct3D 11.0 [level 11.1]
    Renderer: NVIDIA GeForce RTX 3060 (ID=0x2504)
    Vendor:   NVIDIA
    VRAM:     12115 MB
    Driver:   32.0.15.6094
Begin MonoManager ReloadAssembly
- Loaded All Assemblies, in  0.131 seconds
- Finished resetting the current domain, in  0.001 seconds
D3D11 device created for Microsoft Media Foundation video decoding.
`)
	c.crcrlf("<RI> Initializing input.")
	c.crcrlf("<RI> Input initialized.")
	c.crcrlf("<RI> Initialized touch support.")
	c.lines(`
[PhysX] Initialized MultithreadedTaskDispatcher with 16 workers.
UnloadTime: 0.591400 ms
RimWorld 1.6.4518 rev292
`)
	c.fallback("D:/Games/RimWorld/RimWorldWin64_Data/MonoBleedingEdge", 5)
}

// boot16Linux writes the beginning of a log of 2022.3 on Linux.
func boot16Linux(c *capture) {
	c.lines(`
Mono path[0] = '/opt/games/rimworld/RimWorldLinux_Data/Managed'
Mono config path = '/opt/games/rimworld/RimWorldLinux_Data/MonoBleedingEdge/etc'
Preloaded 'ScreenSelector.so'
[PhysX] Initialized MultithreadedTaskDispatcher with 8 workers.
Initialize engine version: 2022.3.35f1 (011206c7a712)
[Subsystems] Discovering subsystems at path /opt/games/rimworld/RimWorldLinux_Data/UnitySubsystems
GfxDevice: creating device client; threaded=1; jobified=0
Renderer: Mesa Intel(R) Graphics (ADL GT2)
Vendor:   Intel
Version:  4.6 (Core Profile) Mesa 24.0.9
Begin MonoManager ReloadAssembly
- Loaded All Assemblies, in  0.094 seconds
- Finished resetting the current domain, in  0.001 seconds
[PhysX] Initialized MultithreadedTaskDispatcher with 8 workers.
UnloadTime: 0.447100 ms
RimWorld 1.6.4518 rev292
`)
	c.fallback("/opt/games/rimworld/RimWorldLinux_Data/MonoBleedingEdge", 4)
}

// modsReady writes the chatter of mods that load well.
func modsReady(c *capture) {
	c.lines(`
[Lantern Festival] 3.1.0 ready: 14 lanterns, 3 rituals
Quarry Plus 2.4.1
[Brick Kilns] patched 6 methods
Riverboats :: harbors enabled, ferries disabled
<color=#e8c547>[Beekeeping]</color> 8 hives, 21 flowers
`)
}
