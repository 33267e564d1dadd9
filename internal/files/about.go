package files

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed/internal/blame"
)

// The file that describes a mod of RimWorld:
//
//	<ModMetaData>
//	  <name>Some Mod</name>
//	  <packageId>author.somemod</packageId>
const aboutRoot = "ModMetaData"

// maxAboutText bounds a name in an About.xml, in bytes; a longer name is cut.
const maxAboutText = 256

// readAbout returns the name and the package id from the About.xml of a mod; a missing one is empty. The input is
// untrusted: declarations of a document, and so entities of its own, are an error, as is malformed XML, with its line.
// The caller bounds the input.
func readAbout(r io.Reader) (blame.Mod, error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // names are shown escaped
	var m blame.Mod
	var into *string
	depth := 0
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF):
			return m, fmt.Errorf("no element <%s>: this is not the About.xml of a mod", aboutRoot)
		case err != nil:
			return m, fmt.Errorf("line %d: %w", line, err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return m, fmt.Errorf("line %d: a declaration of the document: not read", line)
		case xml.StartElement:
			depth++
			switch {
			case depth == 1 && t.Name.Local != aboutRoot:
				return m, fmt.Errorf("line %d: <%s> instead of <%s>: this is not the About.xml of a mod", line,
					t.Name.Local, aboutRoot)
			case depth == 2 && strings.EqualFold(t.Name.Local, "name"):
				into = &m.Name
			case depth == 2 && strings.EqualFold(t.Name.Local, "packageId"):
				into = &m.PackageID
			default:
				into = nil
			}
		case xml.CharData:
			if into != nil && len(*into) < maxAboutText {
				*into += string(t[:min(len(t), maxAboutText)])
			}
		case xml.EndElement:
			into = nil
			if depth--; depth == 0 {
				m.Name, m.PackageID = strings.TrimSpace(m.Name), strings.TrimSpace(m.PackageID)
				return m, nil
			}
		}
	}
}
