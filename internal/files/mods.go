package files

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/blame"
)

// The bounds of installed mods: several times the largest known lists.
const (
	maxInstalled  = 4096
	maxAbout      = 256 << 10
	maxPublished  = 64
	maxAssemblies = 64
)

// Mods returns the mods that are installed in folders of mods, such as the Mods folder of the game and its folder of
// the Steam Workshop, or that are such folders themselves: name and package id from About/About.xml, the number in the
// Workshop from About/PublishedFileId.txt or from the name of the folder, assemblies from *.dll in Assemblies. A folder
// without About.xml is no mod. An unreadable mod is left out, and named by a note.
func Mods(dirs []string) (mods []capture.Mod, notes []error) {
	note := func(err error) { notes = append(notes, err) }
	for _, dir := range dirs {
		folders := []string{dir}
		if !isMod(dir) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				note(err)
				continue
			}
			folders = nil
			for _, e := range entries {
				if folder := filepath.Join(dir, e.Name()); isMod(folder) {
					folders = append(folders, folder)
				}
			}
			if folders == nil {
				note(fmt.Errorf("%s: no mods: no folder in it has About/About.xml", dir))
			}
		}
		for _, folder := range folders {
			if len(mods) == maxInstalled {
				note(fmt.Errorf("%s: more than %d mods: the rest is left out", dir, maxInstalled))
				return mods, notes
			}
			if m, err := readMod(folder); err != nil {
				note(err)
			} else {
				mods = append(mods, m)
			}
		}
	}
	return mods, notes
}

func aboutFile(folder string) string { return filepath.Join(folder, "About", "About.xml") }

func isMod(folder string) bool {
	info, err := os.Stat(aboutFile(folder))
	return err == nil && info.Mode().IsRegular()
}

func readMod(folder string) (capture.Mod, error) {
	name := aboutFile(folder)
	data, err := ReadRegular(name, maxAbout)
	if err != nil {
		return capture.Mod{}, err
	}
	m, err := readAbout(bytes.NewReader(data))
	if err != nil {
		return capture.Mod{}, fmt.Errorf("%s: %w", name, err)
	}
	if m.Name == "" && m.PackageID == "" {
		return capture.Mod{}, fmt.Errorf("%s: %w", name, errors.New("neither a name nor a package id"))
	}
	published, err := ReadRegular(filepath.Join(folder, "About", "PublishedFileId.txt"), maxPublished)
	if err == nil {
		m.WorkshopID = digits(strings.TrimPrefix(strings.TrimSpace(string(published)), "\ufeff"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return capture.Mod{}, err
	}
	abs, _ := filepath.Abs(folder) // fails only without a working folder
	if m.WorkshopID == "" && digits(filepath.Base(filepath.Dir(abs))) != "" {
		m.WorkshopID = digits(filepath.Base(abs)) // …/workshop/content/GAME/NUMBER
	}
	m.Assemblies = assemblies(folder)
	return m, nil
}

// digits returns s where it is nothing but digits, else "".
func digits(s string) string {
	if strings.Trim(s, "0123456789") == "" {
		return s
	}
	return ""
}

// assemblies returns the names of the assemblies of a mod, of all versions of the game.
func assemblies(folder string) []string {
	var names []string
	for _, pattern := range [...]string{"Assemblies/*.dll", "*/Assemblies/*.dll"} {
		found, _ := fs.Glob(os.DirFS(folder), pattern) // the pattern is valid
		for _, f := range found {
			name := strings.TrimSuffix(path.Base(f), ".dll")
			if len(names) < maxAssemblies && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

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

// The file in which RimWorld keeps which mods are active, in load order:
//
//	<ModsConfigData>
//	  <activeMods>
//	    <li>author.somemod</li>
const maxMods = 4096

// ModsConfig returns the package ids of the mods that a ModsConfig.xml lists as active, in load order: at most 4,096.
// The error names the wrong line.
func ModsConfig(data []byte) ([]string, error) {
	var config struct {
		Active *struct {
			IDs []string `xml:"li"`
		} `xml:"activeMods"`
	}
	switch err := xml.Unmarshal(data, &config); {
	case errors.Is(err, io.EOF), err == nil && config.Active == nil:
		return nil, errors.New("no element <activeMods>: this is not the ModsConfig.xml of the game")
	case err != nil:
		return nil, err
	}
	var ids []string
	for _, id := range config.Active.IDs {
		if id = strings.TrimSpace(id); id != "" && len(ids) < maxMods {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
