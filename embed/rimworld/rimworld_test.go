// Package rimworld tries the mod, its build and its pages with Mono. It has no code of its own.
package rimworld

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// mod is what is compiled into the mod.
var mod = []string{"Source/HeedForRimWorld.cs", "../csharp/Heed.cs", "../csharp/HeedAttentionAdapter.cs"}

// stubs stand for the game and its engine.
var stubs = []string{"stubs/UnityEngine.CoreModule.cs", "stubs/Assembly-CSharp.cs"}

func compile(t *testing.T, sources ...string) string {
	t.Helper()
	return testkit.CSharp(t, append(append(sources, mod...), stubs...)...)
}

// folder returns a folder of the mod, with the sidecar where the mod looks for it.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Mods", "heed für Koloni\u00ebn")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "Native"), 0o755))
	sidecar := testkit.Sidecar(t)
	require.NoError(t, os.Link(sidecar, filepath.Join(dir, "Native", filepath.Base(sidecar))))
	return dir
}
