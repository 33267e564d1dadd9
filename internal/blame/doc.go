// Package blame finds the mods that a record of a log points at: whose code threw,
// whose file could not be read, who is named, who reports.
//
//	f := blame.New([]string{"Engine.", "System."})
//	f.Learn(blame.Mod{Name: "Printing Press", PackageID: "acme.press", Assemblies: []string{"PressLib"}})
//	suspects := f.Find("Exception in tick: …", "  at PressLib.Roller.Turn () [0x00000] in <0>:0")
//
// # Evidence
//
// A [Suspect] is a mod with the evidence against it, by [Kind]. The weights are
// how strong a kind is; a suspect's score is the weight of its strongest
// evidence and a tenth of the weights of its other kinds. So agreement decides between
// likes, and no amount of weak evidence overrules one strong piece by more than
// a shade.
//
//	frame     the code nearest to the throw that is not the game's    60
//	          the same, with frames of the game nearer than it        45
//	          the same, where the mod's own tag heads the record      25
//	          code of the next mod in the trace; of all after it      25, 10
//	          code that reports or reads data of others, that is
//	          in most traces, or above the last "Caused by"           20
//	title     a trace is headed by the mod: [Some Mod - Start of stack trace]   55
//	path      a file of the mod: …/Mods/Some Mod/…, …/workshop/content/1/2/…,
//	          __some-mod__/control.lua; as the place of a frame, the
//	          frame is code of the mod                                50
//	named     mod "Some Mod", from mod some_mod, ModID: some_mod, provided
//	          by 'some_mod', a package id, Some-Mod v1.2.0, a listed
//	          name before a verb, content package: Some Mod,
//	          behavior pack 'Some Mod', Some Mod (version: 1.2),
//	          Some Mod is missing a dependency, resource some_mod,
//	          load 'plugins/SomeMod-1.2.jar'                          40
//	type      a type or assembly of the mod: of type SomeMod.Press,
//	          in assembly SomeMod, some-mod.mixins.json:PanelMixin    35
//	          a name that begins with a listed mod: SomeMod_Press,
//	          some_mod:press                                          20
//	          a type in a text about a patch or hook, its victim      20
//	tag       the record begins with [Some Mod], [script:some_mod]    30
//	          and says that the mod does not run                      40
//	          a tag in capitals of no mod that is known               20
//	patch     Harmony patch on the innermost method; on another       20, 8
//	          PatchedBy<some.mod>                                     20
//
// Where memory ran out, nothing weighs more than 20: the code in the trace was only running. A suppressed exception is
// no evidence.
//
// Who reports is not who is at fault: a framework that catches an exception tags
// the record with its own name, and the frame that threw is another mod's.
// Therefore a tag is weaker than everything that names a place, and code after
// the game's in the trace of a record that carries the mod's own tag is likely
// that which caught the exception. A patch on the
// method that threw is weaker still: popular methods carry patches of many mods,
// and all but one of them are innocent. Nor is a mod likely that alone patched code
// in a trace: mods that show progress, measure or translate patch code through
// which faults of others run. So a patch by itself never weighs enough for [Likely]; it is
// among the suspects, as a place to begin.
//
// Some mods do little else than report: checkers, profilers, handlers of errors, loaders of
// definitions. They are known by their names. What points at them is kept, and does not weigh
// enough for [Likely] by itself.
//
// A mod is in a list, or a text or a folder gives it as a mod. Another name is "code: X": which mod has
// that code is not known.
//
// A frame of Java names a mod by the module or archive that it gives as its place, or else by the part of the package
// that a list has, or the part after the domain: press, of com.acme.press.Roller. A native frame names a listed mod in
// the name of its library: Game-SomeMod-Win64.dll!Turn. Below code of a listed mod, an archive of no listed mod is a
// library. A text about nodes of XML makes no mod likely whose code only reads them.
//
// The module of a frame decides before its namespace: code in a namespace of the game whose module is a mod's is the
// mod's, and where the module is not known, the code that called it is a doubt. Code that was compiled before the game
// ran, in a module of zeros, is the game's. In a game whose code no rule names,
// the namespace of most frames is the game's. So is code of Java without a package whose names were shortened.
//
// Code of the game, its engine, the runtime or a library that mods share is no
// mod's fault: [Finder.SetGameCode] names it. It is matched against namespaces,
// assemblies, owners of patches, tags and package ids.
// A record with no other names has no suspects.
//
// # One mod, many names
//
// Names are the same without case, spaces and punctuation, so "[Some Mod]" is
// the namespace SomeMod. A dotted name is also known by its last part, so
// "author.somemod" is. A mod given to [Finder.Learn] joins name, package id, number in
// the Steam Workshop and assemblies; an assembly that several mods bring along is
// none's. Where a list has the package id alone, a name like its end means the mod,
// and a name like its beginning the author, if the author has one mod there.
// Code that is called after the author of several is the mod's whose part follows. After
// [Finder.LearnAll] a tag of none of the mods is worth 10. What
// [Finder.LearnTrace] saw identifies code where names are obfuscated. The workshop
// id of a folder is a number: it goes with the title of the
// trace where there is one, and [Finder.LearnNames] remembers that.
//
// # Untrusted text
//
// Names are untrusted input. A [Suspect].Mod has letters, digits, single spaces and
// the signs ._-+'&!?#:, which end nothing anywhere, at most 64 bytes. A name of more
// than three words that no list has is kept as a suspect, and never weighs enough
// for [Likely], whose names go into summaries: a tag may be written to be
// obeyed. A mod can still write another's name into a record: a suspect is a pointer
// for people, and no decision should rest on it.
//
// # Bounds, concurrency, cost
//
// Find reads at most 32 KiB of message and of stack and returns at most four
// suspects. A Finder keeps at most 4,096 mods, and the names of 8,192
// modules. It does no I/O and reads no clock; the result depends on nothing but its
// arguments and the mods and traces that were learned. Find changes nothing, so that any number of
// goroutines may call it, but not at the same time as Learn or LearnTrace. It is
// made for the first record of a kind, not for each: it allocates.
package blame
