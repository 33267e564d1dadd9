package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/klauspost/compress/flate"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

func init() {
	coder[intake.Source](encodeSource, decodeSource)
	coder[population.Log](encodeLog, decodeLog)
	coder[population.Links](encodeLinks, decodeLinks)
	coder[population.Names](encodeNames, decodeNames)
	coder[population.Group](encodeGroup, decodeGroup)
	coder[population.Set](encodeSet, decodeSet)
	coder[population.Parts](encodeParts, decodeParts)
}

// coder registers how values of a type travel: functions with a name each, by which a worker finds them.
func coder[T any](encode func(T) ([]byte, error), decode func([]byte) (T, error)) {
	beam.RegisterCoder(reflect.TypeFor[T](), encode, decode)
}

func encodeSource(v intake.Source) ([]byte, error)      { return pack(v) }
func decodeSource(data []byte) (intake.Source, error)   { return unpack[intake.Source](data) }
func encodeLog(v population.Log) ([]byte, error)        { return pack(v) }
func encodeLinks(v population.Links) ([]byte, error)    { return pack(v) }
func encodeNames(v population.Names) ([]byte, error)    { return pack(v) }
func encodeGroup(v population.Group) ([]byte, error)    { return pack(v) }
func encodeSet(v population.Set) ([]byte, error)        { return pack(v) }
func encodeParts(v population.Parts) ([]byte, error)    { return pack(v) }
func decodeParts(data []byte) (population.Parts, error) { return unpack[population.Parts](data) }
func decodeLog(data []byte) (population.Log, error)     { return unpack[population.Log](data) }
func decodeLinks(data []byte) (population.Links, error) { return unpack[population.Links](data) }
func decodeNames(data []byte) (population.Names, error) { return unpack[population.Names](data) }
func decodeGroup(data []byte) (population.Group, error) { return unpack[population.Group](data) }
func decodeSet(data []byte) (population.Set, error)     { return unpack[population.Set](data) }

// pack encodes as JSON, and deflates it: runners keep data between stages in memory.
func pack(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // the level is valid
	_, _ = w.Write(text)                           // to memory
	_ = w.Close()
	return out.Bytes(), nil
}

func unpack[T any](data []byte) (v T, err error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		err = fmt.Errorf("%T: %w", v, err)
	}
	return v, err
}
