package signature

import (
	"bytes"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// tokens is the head of a template cut at spaces, with hashes that make it
// cheap to leave one out: the sum of a hash of each word at its place.
type tokens struct {
	words   [groupTokens]templateWord
	text    [groupTokens][]byte // as written, whatever replace puts in its place
	n       int
	anchors int
	sum     uint64
}

// templateWord is one word of a template.
type templateWord struct {
	hash   uint64 // of the word and its place
	role   role   // set by learn
	word   bool   // it is an anchor: letters, no mask
	masked bool   // it holds the mask
}

func (t *templateWord) anchor() int {
	if t.word {
		return 1
	}
	return 0
}

// parse cuts a template, and leaves roles aside. It returns false for one with
// too many words.
func (t *tokens) parse(template []byte) bool {
	head, frames, _ := bytes.Cut(template, []byte("\n"))
	t.sum = xxhash.Sum64(frames)
	for len(head) > 0 {
		if t.n == len(t.words) {
			return false
		}
		word := head
		if i := bytes.IndexByte(head, ' '); i >= 0 {
			word, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		w := &t.words[t.n]
		t.text[t.n] = word
		w.masked = bytes.Contains(word, []byte(Mask))
		w.word = !w.masked && letters(word) >= 2
		w.hash = place(xxhash.Sum64(word), t.n)
		t.anchors += w.anchor()
		t.sum += w.hash
		t.n++
	}
	return true
}

// role returns the role of word i.
func (t *tokens) role(i int) role {
	if !t.words[i].word && !t.words[i].masked {
		return fixed
	}
	return roleOf(t.text[:t.n], i)
}

// key returns the hash of all that is not word i, and of where i is.
func (t *tokens) key(i int) uint64 {
	return place(t.sum-t.words[i].hash, i) | 1 // 0 is an empty slot
}

// replace puts w in the place of word i.
func (t *tokens) replace(i int, w templateWord) {
	t.anchors += w.anchor() - t.words[i].anchor()
	t.sum += w.hash - t.words[i].hash
	t.words[i] = w
}

var maskHash = xxhash.Sum64String(Mask)

// place mixes a hash with a position (the finalizer of SplitMix64).
func place(h uint64, i int) uint64 {
	h ^= bits.RotateLeft64(uint64(i+1)*0x9e3779b97f4a7c15, 17)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
