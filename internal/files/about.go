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
// untrusted: entities of a document are an error, as is malformed XML, with its line. The caller bounds the input.
func readAbout(r io.Reader) (blame.Mod, error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // names are shown escaped
	var about struct {
		XMLName xml.Name
		Fields  []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	var m blame.Mod
	switch err := d.Decode(&about); {
	case errors.Is(err, io.EOF):
		return m, fmt.Errorf("no element <%s>: this is not the About.xml of a mod", aboutRoot)
	case err != nil:
		return m, err
	case about.XMLName.Local != aboutRoot:
		return m, fmt.Errorf("<%s> instead of <%s>: this is not the About.xml of a mod", about.XMLName.Local, aboutRoot)
	}
	for _, field := range about.Fields {
		text := strings.TrimSpace(field.Text)
		text = text[:min(len(text), maxAboutText)]
		switch tag := field.XMLName.Local; {
		case strings.EqualFold(tag, "name"):
			m.Name = text
		case strings.EqualFold(tag, "packageId"):
			m.PackageID = text
		}
	}
	return m, nil
}
