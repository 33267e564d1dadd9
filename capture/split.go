package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// verdict is the result of a step of the splitting for a line: where in the open record its text goes, and by which
// evidence. The zero verdict is that the step cannot decide, so that the next one runs.
type verdict struct {
	to part
	by Evidence
}

// Of a line that begins a record.
var apart = verdict{to: partApart}

// joins decides whether ln, which is not blank, belongs to the open record. It changes
// nothing but the state of a list or block.
//
// The steps are in the order of their certainty: an open block; the end of a record or
// a part of a trace, by shapes that occur nowhere else; the heading of a crash; and then
// lines directly below the last line or below a blank one. These join by shape
// (exceptions, indentation), as texts that are known to follow others, and as items that an
// earlier line announced; only in a copy of the console, where every record ends with
// frames, it is plain text. A step runs only if those before it cannot decide: to
// move one changes the records.
func (a *assembly) joins(ln *line, layout Layout) verdict {
	b := ln.text
	switch {
	case a.sealed:
		return apart
	case a.partial && a.blanks == 0:
		return verdict{partMessage, a.split}
	case layout == LayoutPlain || layout == LayoutJSON:
		return a.joinsPlain(ln)
	case a.block != blockNone:
		if v := a.joinsBlock(ln, layout); v.to != partOpen {
			return v
		}
	}
	switch {
	case b[0] == ' ': // as most lines below another
	case ln.is(ofFooter):
		a.sealed = true
		return verdict{partNone, evidenceFooter}
	case ln.is(ofBanner):
		return apart
	}
	if v := a.joinsTrace(ln, layout); v.to != partOpen {
		return v
	}
	switch {
	case a.isCrashHeading(ln):
		a.block = blockCrash
		return verdict{partMessage, evidenceBlock}
	case a.blanks > maxInnerBlanks:
		return apart
	}
	if v := a.joinsNested(ln); v.to != partOpen {
		return v
	}
	if a.blanks > 0 {
		return a.joinsBelowBlank(ln)
	}
	return a.joinsDirectly(ln, layout)
}

// joinsBlock decides about a line below the beginning of a block, in any form.
// It cannot decide where the block turns out to be none or to have lost its end.
func (a *assembly) joinsBlock(ln *line, layout Layout) verdict {
	b, within := ln.text, false
	switch a.block {
	case blockContext:
		if a.maybeContext() && !opensContext(b) {
			a.block, a.split = blockNone, evidenceLine
			return verdict{}
		}
		a.sealed = isContextEnd(b)
		within = !leavesContext(ln)
	case blockCrash:
		if a.lines == 1 && a.is(ofCrashMark) &&
			!hasPrefix(b, unity.SymbolsStart) && !ln.is(ofCrash) && !isNativeFrame(b) {
			a.block, a.split = blockNone, evidenceLine
			return verdict{}
		}
		within = !ln.is(ofLife | ofBanner)
		if within && a.isCrashFrame(b) {
			return verdict{partStack, evidenceBlock}
		}
	case blockReport:
		if !ln.is(ofBanner) {
			return a.joinsCrashReport(b)
		}
	case blockAround:
		return a.joinsAround(b, layout)
	case blockMemory:
		if within = ln.is(ofMemory); !within && ln.is(ofFooter) {
			return verdict{}
		}
	case blockSymbols:
		within = a.blanks == 0 && unity.IsSymbols(text(b))
	case blockPatchTrace:
		return a.joinsPatchTrace(ln)
	}
	if !within {
		return apart
	}
	return verdict{partMessage, evidenceBlock}
}

// joinsPatchTrace decides about a line below the beginning of a trace of patches. It cannot decide at its end.
func (a *assembly) joinsPatchTrace(ln *line) verdict {
	ends := hasPrefix(ln.text, rimworld.PatchTraceEnd)
	lost := !ends && ln.is(ofThrown|ownRecord) // something else is being reported
	within := a.blanks == 0 && !ln.is(ofFooter) && !lost
	if !within || ends {
		a.block = blockNone
	}
	if !within {
		return verdict{}
	}
	return verdict{partMessage, evidenceBlock}
}

// joinsTrace decides about frames, stack references, and lines in their place.
func (a *assembly) joinsTrace(ln *line, layout Layout) verdict {
	b := ln.text
	switch {
	case ln.is(ofFrame):
		if a.blanks > 0 && a.byConsole && isLogging(b) {
			return apart // the trace of a message without text
		}
		a.list = listNone
		return verdict{partStack, evidenceFrame}
	case layout == layoutConsole && a.blanks == 0 && string(trimRight(b)) == unity.NoTrace:
		a.sealed = true
		return verdict{partNone, evidenceForm}
	case a.blanks == 0 && (a.frames > 0 && ln.is(ofCall) || b[0] == 'a' && isBareAtFrame(b)):
		return verdict{partStack, evidenceFrame}
	case !ln.ended:
		if v := a.joinsCut(b); v.to != partOpen {
			return v
		}
	}
	if b[0] == '[' && ln.is(ofRef) {
		a.list = listNone
		if a.blanks > 0 && !a.lacksTrace() {
			return apart
		}
		return verdict{partNone, evidenceFrame}
	}
	return verdict{}
}

// joinsCut decides about a line at which the input breaks off, as far as it is the
// beginning of a frame of the trace above, or of the first one of an exception, of a
// reference or a footer: cut anywhere, what there is of them belongs to the record.
func (a *assembly) joinsCut(b []byte) verdict {
	switch {
	case unity.IsCutFooter(text(b)):
		a.sealed = true
		return verdict{partNone, evidenceFooter}
	case a.blanks > 0:
	case rimworld.IsCutRef(text(b)):
		return verdict{partNone, evidenceFrame}
	case isIndented(b):
		if isCutFrame(b) && (a.frames > 0 || a.isException()) {
			return verdict{partStack, evidenceFrame}
		}
	case a.frames > 0 && (a.byConsole || a.pureLines) && isCutFrame(b):
		return verdict{partStack, evidenceFrame}
	}
	return verdict{}
}

// joinsDirectly decides about a line directly below the last one of the record.
func (a *assembly) joinsDirectly(ln *line, layout Layout) verdict {
	b := ln.text
	if exception, ok := a.joinsException(ln); ok {
		a.exception = a.exception || exception
		a.list = listNone
		return verdict{partMessage, evidenceForm}
	}
	switch {
	case a.section && a.joinsSection(ln, layout):
		return verdict{partMessage, evidenceList}
	case isIndented(b):
		return a.joinIndented(b)
	case ln.is(ofBelow | ofParagraph):
		return a.joinForm(b)
	case a.frames == 0 && a.list == listNone && isPath(b) && !isPath(a.head()): // one of the folders that a message lists
		return verdict{partMessage, evidenceForm}
	case a.joinsList(ln):
		return verdict{partMessage, evidenceList}
	case !a.engine && isInDocument(b):
		return verdict{partMessage, evidenceForm}
	case a.pureLines && !a.byConsole:
		return verdict{partMessage, evidenceConsole}
	}
	return apart
}

// joinsBelowBlank decides about a line below a blank one. A record may hold some, so fewer
// forms speak for it there: none of those that end with a blank line.
func (a *assembly) joinsBelowBlank(ln *line) verdict {
	b := ln.text
	switch {
	case a.frames > 0 && isInnerException(b):
		return verdict{partMessage, evidenceForm}
	case isIndented(b):
		return a.joinIndented(b)
	case ln.is(ofParagraph),
		a.list == listExpected && shapeOf(b).bits&shapeXML != 0 && !ln.is(ownRecord): // the XML that was announced
		return a.joinForm(b)
	case !a.engine && isTitle(b, a.frames > 0, a.section): // the engine's own lines have no sections
		a.section, a.list, a.shape = true, listNone, itemShape{}
		return verdict{partMessage, evidenceList}
	}
	return apart
}

// joinIndented joins a line that is set in: to the trace, if it reports something about a
// frame.
func (a *assembly) joinIndented(b []byte) verdict {
	// Harmony adds "- PREFIX some.mod: Boolean Some.Patch:Prefix(Thing t)" below a frame.
	if a.frames > 0 && hasPrefix(trimLeft(b), "- ") || a.joinsLocal(b) {
		return verdict{partStack, evidenceFrame}
	}
	a.indentedItem(b)
	return verdict{partMessage, evidenceIndent}
}

// joinForm joins a line that is known to follow another. It ends a list, and may
// announce another.
func (a *assembly) joinForm(b []byte) verdict {
	a.list = listNone
	if announcesList(b) {
		a.list, a.anyItem = listExpected, true
	}
	return verdict{partMessage, evidenceForm}
}

// maybeContext reports whether all there is of a header is the line that announces
// when the log was uploaded.
func (a *assembly) maybeContext() bool {
	return a.block == blockContext && a.lines == 1 && hasPrefix(a.message, rimworld.UploadStart)
}

// maxInnerBlanks is how many blank lines in a row a record may hold without a
// frame or footer after them.
const maxInnerBlanks = 1

// isCrashHeading reports whether ln turns the open record, so far nothing but
// what Mono prints above it, into a crash report.
func (a *assembly) isCrashHeading(ln *line) bool {
	return ln.is(crashStarts) && (a.lines == 1 && a.blanks == 0 && isRule(a.message) || isTraceHead(a.message))
}

// joinsException reports whether ln is the exception that the line above
// announced ("Exception while ticking …: ", then the exception on a line of its
// own), or a further line of an exception's message. What announces a list of
// something else may have none: an exception as its item would be classified as the list.
func (a *assembly) joinsException(ln *line) (exception, ok bool) {
	b := ln.text
	if a.joinsTitled(b) {
		return true, true
	}
	if a.lines == 1 {
		if ln.is(ofQualified) || a.list == listExpected && ln.is(ofThrown) {
			yes := a.announcesException() &&
				(a.list != listExpected || speaksOfTrouble(a.message))
			return yes, yes
		}
	}
	// Below its trace this one lists an exception per type that could not be loaded.
	if a.frames > 0 && a.is(ofException) && ln.is(ofQualified) &&
		bytes.Contains(a.head(), []byte("ReflectionTypeLoadException")) {
		return false, true
	}
	return false, ln.is(ofDetail) && (a.frames > 0 || a.isException() || a.announcesException())
}

// joinsSection reports whether ln lies in a section of the record. Where records
// of more than a line end with a footer, everything does up to the next blank
// line; elsewhere ln must look like something in the section.
func (a *assembly) joinsSection(ln *line, layout Layout) bool {
	b := ln.text
	if isIndented(b) {
		return true
	}
	s := shapeOf(b)
	hasFooters := layout == layoutUnity2019_2 || layout == layoutUnity2019_4
	if ln.is(ownRecord) || a.frames == 0 && ln.opensException() ||
		!hasFooters && a.shape != (itemShape{}) && !s.like(a.shape) {
		return false
	}
	a.shape = itemShape{bits: a.shape.bits | s.bits, mark: s.mark, first: s.first}
	return true
}

// indentedItem takes note that a list that was announced has its items
// indented: a line at the margin ends it, unless both read "key: value", which
// some mods indent in part only.
func (a *assembly) indentedItem(b []byte) {
	if a.list == listNone {
		return
	}
	a.list = listNone
	if shapeOf(b).bits&shapeKey != 0 {
		a.list, a.shape = listOpen, itemShape{bits: shapeKey}
	}
}

// joinsList reports whether ln is an item of the list that the line above
// announced or is part of.
func (a *assembly) joinsList(ln *line) bool {
	if a.list == listNone || ln.text[0] == ' ' {
		return false
	}
	s := shapeOf(ln.text)
	isItem := s.like(a.shape)
	if a.list == listExpected {
		isTagged := s.bits&shapeKey != 0 && s.first == shapeOf(a.head()).first // the next line of the same logger
		isItem = (a.anyItem || beginsList(s)) && !isTagged
	}
	if !isItem || !ln.mayBeItem(s) || a.logger().Sure && ln.logger().Sure { // a line of the same logger
		return false
	}
	a.list, a.shape = listOpen, s
	return true
}
