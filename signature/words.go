package signature

import (
	"slices"
	"strings"
)

// wellKnown are names in which a digit means no more than a letter would:
// types, formats and platforms. They stay words like any other.
var wellKnown = []string{
	"Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
	"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64",
	"Vector2", "Vector3", "Vector4", "Vector2Int", "Vector3Int", "Matrix4x4", "Texture2D", "Texture3D",
	"2D", "3D", "D3D", "D3D11", "D3D12", "d3d11", "d3d12",
	"UTF8", "UTF-8", "utf8", "utf-8", "UTF16", "UTF-16", "utf-16", "Base64", "base64",
	"MD5", "md5", "SHA1", "sha1", "SHA256", "sha256", "SHA-1", "SHA-256",
	"IPv4", "IPv6", "ipv4", "ipv6", "IPV4", "IPV6", "HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3",
	"x86", "x64", "x86_64", "amd64", "arm64", "i386", "Win32", "win32", "Win64", "win64",
}

// words is a set of tokens, made for the question whether one of the many that
// are not in it is. It is immutable.
type words struct {
	lists [256][]string // by first byte
	// marks holds, by first byte, a bit for the last byte and the length of each word. Few other tokens pass.
	marks [64]uint64
}

func newWords(lists ...[]string) *words {
	w := &words{}
	for _, s := range slices.Concat(lists...) {
		if s != "" {
			w.lists[s[0]] = append(w.lists[s[0]], s)
			w.marks[s[0]&63] |= 1 << markOf(s)
		}
	}
	return w
}

func markOf(t string) uint { return (uint(t[len(t)-1])*5 + uint(len(t))) & 63 }

// has reports whether t, which is not empty, is one of the words. It is small
// enough to be inlined, and nearly all tokens go no further.
func (w *words) has(t string) bool {
	return w.marks[t[0]&63]>>markOf(t)&1 != 0 && slices.Contains(w.lists[t[0]], t)
}

// keeps reports whether t is several parts with dots between, and each that holds a digit is one of the words.
// System.Int32 stays, System.Int32.F7 does not.
func (w *words) keeps(t string) bool {
	if classes[t[0]]&digit != 0 || !hasDot(t) {
		return false
	}
	for part := range strings.SplitSeq(t, ".") {
		if strings.ContainsAny(part, "0123456789") && !w.has(part) {
			return false
		}
	}
	return true
}
