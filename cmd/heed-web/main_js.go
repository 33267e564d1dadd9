// In a browser, a worker runs this program. It defines the function heed of the worker:
//
//	heed([{name, read}, …], language, strict) → Promise of {html, markdown, difference, suspects, removed, error}
//
// where read() returns the Promise of the next bytes of a log, as a Uint8Array; null at the end.

package main

import (
	"errors"
	"io"
	"runtime/debug"
	"syscall/js"

	"github.com/heedlog/heed/cmd/internal/readlog"
	"github.com/heedlog/heed/rules"
)

func main() {
	// Memory that a page has taken is never given back; a replay makes little garbage.
	debug.SetGCPercent(20)
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		panic(err) // a test compiles the default rules
	}
	js.Global().Set("heed", js.FuncOf(func(_ js.Value, args []js.Value) any {
		logs, language, strict := args[0], args[1].String(), args[2].Truthy()
		return promise(func() any { return answer(set, logs, language, strict) })
	}))
	js.Global().Call("ready")
	select {}
}

// promise runs f in a goroutine of its own, for only there it may wait.
func promise(f func() any) js.Value {
	var executor js.Func
	executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve := args[0]
		go func() {
			defer executor.Release()
			resolve.Invoke(f())
		}()
		return nil
	})
	return js.Global().Get("Promise").New(executor)
}

// answer makes the page about logs.
func answer(set *rules.Set, logs js.Value, language string, strict bool) any {
	byName := map[string]js.Value{}
	names := make([]string, logs.Length())
	for i := range names {
		names[i] = logs.Index(i).Get("name").String()
		for byName[names[i]].Truthy() { // two logs of one name, from two folders
			names[i] += " (2)"
		}
		byName[names[i]] = logs.Index(i)
	}
	open := func(name string) (io.ReadCloser, error) {
		return &reader{file: byName[name]}, nil
	}
	page, err := readlog.NewPage(set, language, names, strict, open)
	out := map[string]any{"error": ""}
	if err != nil {
		out["error"] = err.Error()
	}
	if page != nil {
		removed := make([]any, len(page.Removed))
		for i, kind := range page.Removed {
			removed[i] = kind
		}
		out["html"], out["markdown"], out["removed"] = string(page.HTML), string(page.Markdown), removed
		out["difference"], out["suspects"] = string(page.Difference), string(page.Suspects)
	}
	return out
}

// reader reads a file of the browser.
type reader struct {
	file js.Value
	rest []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		part, err := await(r.file.Call("read"))
		if err != nil {
			return 0, err
		}
		if part.IsNull() {
			return 0, io.EOF
		}
		r.rest = make([]byte, part.Get("length").Int())
		js.CopyBytesToGo(r.rest, part)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (*reader) Close() error { return nil }

// await waits for a Promise.
func await(promise js.Value) (js.Value, error) {
	kept, broken := make(chan js.Value, 1), make(chan js.Value, 1)
	to := func(done chan js.Value) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			done <- args[0]
			return nil
		})
	}
	keeps, breaks := to(kept), to(broken)
	defer keeps.Release()
	defer breaks.Release()
	promise.Call("then", keeps, breaks)
	select {
	case v := <-kept:
		return v, nil
	case why := <-broken:
		return why, errors.New(why.Call("toString").String())
	}
}
