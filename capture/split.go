package capture

import "bytes"

// joins decides whether ln, which is not blank, belongs to the open record, and
// if so, where its text goes and by which evidence. It changes nothing but the
// state of a list or block.
//
// The order of the questions is that of their certainty: the end of a block, a
// footer, shapes that occur in traces only, indentation, texts that are known
// never to stand alone; then what an earlier line led one to expect; and only
// in a copy of the console, where every record ends with frames, plain text.
func (a *assembly) joins(ln *line, layout Layout) (to part, ev Evidence, ok bool) {
	b := ln.text
	if a.sealed {
		return 0, 0, false
	}
	if layout == LayoutPlain || layout == LayoutJSON {
		return a.joinsPlain(b)
	}
	switch a.block {
	case blockContext:
		if !a.maybeContext() || opensContext(b) {
			a.sealed = isContextEnd(b)
			return partMessage, EvidenceBlock, !leavesContext(b)
		}
		a.block, a.split = blockNone, EvidenceLine
	case blockCrash:
		if isSignOfLife(b) {
			return 0, 0, false
		}
		if isNativeFrame(b) || isFrame(b) {
			return partStack, EvidenceBlock, true
		}
		return partMessage, EvidenceBlock, !isBanner(b)
	case blockMemory:
		if isMemoryLine(b) {
			return partMessage, EvidenceBlock, true
		}
		return 0, 0, false
	case blockSymbols:
		if a.blanks == 0 && isSymbolsLine(b) {
			return partMessage, EvidenceBlock, true
		}
		return 0, 0, false
	case blockPatchTrace:
		if a.blanks == 0 && !isFooter(b) && !leavesPatchTrace(b) {
			if isPatchTraceEnd(b) {
				a.block = blockNone
			}
			return partMessage, EvidenceBlock, true
		}
		a.block = blockNone
	}
	may := opens[b[0]]
	switch {
	case may&mayFooter != 0 && isFooter(b):
		a.sealed = true
		return partNone, EvidenceFooter, true
	case may&mayBanner != 0 && isBanner(b):
		return 0, 0, false
	case !ln.prose && ln.isFrame():
		if a.blanks > 0 && a.byConsole && isLogging(b) {
			return 0, 0, false // the trace of a message without text
		}
		a.list = listNone
		return partStack, EvidenceFrame, true
	case a.blanks == 0 && may&mayNative != 0 && isEngineFrame(b):
		a.list = listNone
		return partStack, EvidenceFrame, true
	case layout == LayoutConsole && a.blanks == 0 && string(trimRight(b)) == noTrace:
		a.sealed = true
		return partNone, EvidenceForm, true
	case a.frames > 0 && a.blanks == 0 && !ln.prose && isDottedCall(b):
		return partStack, EvidenceFrame, true
	case !ln.ended:
		if to, ev, ok = a.joinsCut(b); ok {
			return to, ev, ok
		}
	}
	if may&mayRef != 0 {
		if _, _, ok := parseRef(b); ok {
			a.list = listNone
			return partNone, EvidenceFrame, a.blanks == 0
		}
	}
	if may&mayCrash != 0 && a.isCrashHeading(b) {
		a.block = blockCrash
		return partMessage, EvidenceBlock, true
	}
	if a.blanks > maxInnerBlanks {
		return 0, 0, false
	}
	if a.blanks == 0 {
		if exception, ok := a.joinsException(b); ok {
			a.exception = a.exception || exception
			a.list = listNone
			return partMessage, EvidenceForm, true
		}
	} else if a.frames > 0 && isInnerException(b) {
		return partMessage, EvidenceForm, true
	}
	switch {
	case a.section && a.blanks == 0 && a.joinsSection(b, layout):
		return partMessage, EvidenceList, true
	case isIndented(b):
		if a.frames > 0 && isAnnotation(b) {
			return partStack, EvidenceFrame, true
		}
		a.indentedItem(b)
		return partMessage, EvidenceIndent, true
	case may&mayGoOnForm != 0 && (a.blanks == 0 && isKnownContinuation(b) || isXMLSection(b) || isShaderNote(b)), a.blanks > 0 && a.joinsXML(b):
		a.list = listNone
		if announcesList(b) {
			a.list, a.anyItem = listExpected, true
		}
		return partMessage, EvidenceForm, true
	case a.blanks == 0 && a.joinsPaths(b):
		return partMessage, EvidenceForm, true
	case a.blanks > 0 && a.joinsTitle(b):
		a.section, a.list, a.shape = true, listNone, itemShape{}
		return partMessage, EvidenceList, true
	case a.joinsReport(ln):
		a.report = true
		return partMessage, EvidenceForm, true
	case a.blanks == 0 && a.joinsList(b):
		return partMessage, EvidenceList, true
	case a.blanks == 0 && !a.engine && isInDocument(b):
		return partMessage, EvidenceForm, true
	case a.pureLines && !a.unity && a.blanks == 0:
		return partMessage, EvidenceConsole, true
	}
	return 0, 0, false
}

// joinsCut is joins for a line at which the input breaks off, as far as it is the
// beginning of a frame of the trace above, or of the first one of an exception, of a
// reference or a footer: cut anywhere, what there is of them belongs to the record.
func (a *assembly) joinsCut(b []byte) (part, Evidence, bool) {
	switch {
	case isCutFooter(b):
		a.sealed = true
		return partNone, EvidenceFooter, true
	case a.blanks > 0:
		return 0, 0, false
	case isCutRef(b):
		return partNone, EvidenceFrame, true
	case isIndented(b):
		return partStack, EvidenceFrame, isCutFrame(b) && (a.frames > 0 || a.isException())
	}
	return partStack, EvidenceFrame, a.frames > 0 && (a.unity || a.pureLines) && isCutFrame(b)
}

// maybeContext reports whether all there is of a header is the line that says
// when the log was uploaded.
func (a *assembly) maybeContext() bool {
	return a.block == blockContext && a.lines == 1 && hasPrefix(a.message, contextStart)
}

// maxInnerBlanks is how many blank lines in a row a record may hold without a
// frame or footer after them.
const maxInnerBlanks = 1

// isCrashHeading reports whether b turns the open record, so far nothing but
// what Mono prints above it, into a crash report.
func (a *assembly) isCrashHeading(b []byte) bool {
	return isCrashStart(b) && (a.lines == 1 && a.blanks == 0 && isRule(a.message) || isTraceHead(a.message))
}

// joinsException reports whether b is the exception that the line above
// announced ("Exception while ticking …: ", then the exception on a line of its
// own), or a further line of an exception's message. What announces a list of
// something else may have none: an exception taken for it would be judged as the list.
func (a *assembly) joinsException(b []byte) (exception, ok bool) {
	if a.lines == 1 {
		if n, qualified := exceptionType(b); n > 0 && (qualified || a.list == listExpected) {
			yes := announcesException(a.message) && (a.list != listExpected || a.within(int(a.ends.text)) || speaksOfTrouble(a.message))
			return yes, yes
		}
	}
	if a.frames > 0 && a.listsLoaderErrors() {
		if n, qualified := exceptionType(b); n > 0 && qualified {
			return false, true
		}
	}
	return false, opens[b[0]]&mayDetail != 0 && isExceptionDetail(b) && (a.frames > 0 || a.isException() || announcesException(a.head()))
}

// joinsPaths reports whether b is one of the folders that a message lists below
// it. A path that follows another record's path list would be one of its own.
func (a *assembly) joinsPaths(b []byte) bool {
	return a.frames == 0 && a.list == listNone && isPath(b) && !isPath(a.head())
}

// within reports whether a line that ends in crs times \r and \n has its end within
// a message. On Windows what is logged has its \n written as \r\n; so a line
// of the log's own ends in that, and one within a message that had \r\n in \r\r\n.
// Where a copy has gone through the same once more, the engine's lines show it. They
// have to be asked, and not the most common end: a log may be half tables. (Those
// that begin with "<RI> " end in \r\r\n in every log.)
func (a *assembly) within(crs int) bool { return crs > a.ownEnd }

// joinsReport reports whether ln belongs to a message of several lines that
// holds a blank line: whether its end lies within a message, after a first line and
// one blank line. Where the end of the first line does so too, and that of the
// blank one does not, the message had an end of its own and was over:
//
//	Panels found: 3\r\r\n
//	\r\n
//	Lamp found\r\r\n
//
// The same end directly below a line is not enough: mods write tables whose
// rows are better seen one by one. Nor is it for a line that opens a record: what is
// swallowed is judged by the first line. The engine's own lines head no report: their
// ends are what those of a message are told from.
func (a *assembly) joinsReport(ln *line) bool {
	if a.engine || !a.within(ln.crs) || !a.report && (a.lines != 1 || a.blanks != 1 || a.split != EvidenceLine || a.ends.blank < a.ends.text) {
		return false
	}
	return !opensException(ln.text) && (!startsRecord(ln.text) || sameTag(ln.text, a.message))
}

// sameTag reports whether b and message begin with the same tag in brackets.
func sameTag(b, message []byte) bool {
	end := bytes.IndexByte(b, ']')
	return b[0] == '[' && end > 0 && bytes.HasPrefix(message, b[:end+1])
}

// joinsXML reports whether b is the XML that the line above the blank one
// announced.
func (a *assembly) joinsXML(b []byte) bool {
	return a.list == listExpected && shapeOf(b).bits&shapeXML != 0 && !startsRecord(b)
}

// joinsTitle reports whether b, which follows a blank line, heads a section of
// the record. The engine's own lines have none, though some leave a blank line.
func (a *assembly) joinsTitle(b []byte) bool {
	return !a.engine && isTitle(b, a.frames > 0, a.section)
}

// joinsSection reports whether b lies in a section of the record. Where records
// of more than a line end with a footer, everything does up to the next blank
// line; elsewhere b must look like something in the section.
func (a *assembly) joinsSection(b []byte, layout Layout) bool {
	if isIndented(b) {
		return true
	}
	if startsRecord(b) {
		return false
	}
	s := shapeOf(b)
	if a.frames == 0 && s.mayOpenException(b, a.shape) && opensException(b) {
		return false
	}
	if layout != LayoutUnity2019_2 && layout != LayoutUnity2019_4 && a.shape != (itemShape{}) && !s.like(a.shape) {
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

// joinsList reports whether b is an item of the list that the line above
// announced or is part of.
func (a *assembly) joinsList(b []byte) bool {
	if a.list == listNone || b[0] == ' ' {
		return false
	}
	s := shapeOf(b)
	if a.list == listOpen && !s.like(a.shape) || !mayBeItem(b, s, a.shape) || a.list == listExpected && !a.anyItem && !beginsList(b, s) {
		return false
	}
	a.list, a.shape = listOpen, s
	return true
}

// awaitsItem reports whether b, which did not join the record by itself, may be
// the first item of the list that is expected, if the next line looks like it.
func (a *assembly) awaitsItem(b []byte) bool {
	return a.blanks == 0 && !a.sealed && mayBeItem(b, shapeOf(b), itemShape{})
}
