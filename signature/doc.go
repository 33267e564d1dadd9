// Package signature finds the shape of a log entry, its text without variables, and
// the id of the shape.
//
//	Harvester31415 tried to walk to (166, 0, 143)   <*> tried to walk to (<*>)
//	Harvester7 tried to walk to (2, 0, 5)           the same template, the same id
//	request failed with 404                         request failed with 404
//	request failed with 500                         another id: a status decides
//	No path was found for Tobin                     an id of its own
//	No path was found for Ilsebet                   another id, and one group in a Grouper
//
// # Tour
//
// A [Normalizer] is made once, by [New], and serves any number of goroutines.
// [Normalizer.AppendTemplate] gives the canonical template of an entry: the
// first line of its message with every variable replaced by one mask, "<*>",
// and below it the stack, as bare names of methods:
//
//	Exception ticking Press7 (at (12, 0, 5)): System.NullReferenceException: Object reference not set
//	  at Acme.Works.Press.Tick () [0x00012] in <5a0c7e11d2f34b6899aabbccddeeff01>:0
//	  at (wrapper dynamic-method) Acme.Works.Floor.Acme.Works.Floor.Tick_Patch3(Acme.Works.Floor)
//
// becomes
//
//	Exception ticking <*> (at (<*>)): System.NullReferenceException: Object reference not set
//	at Acme.Works.Press.Tick
//	at Acme.Works.Floor.Tick
//
// [AppendSource] adds who wrote the text: "from Presses". [Of] hashes a template to the [ID] of the shape, which has
// the same value on every machine and in every release, and adds a second, independent hash; the two make a
// [Signature], the key to use wherever entries are counted, cached or compared. [Normalizer.Key], with [Key.From], is
// the way there for the hot path: it hashes the template without building it, into a key that holds within the process,
// for a table from keys to signatures. [Normalizer.AppendSpans] returns for people the masked parts and their forms:
// <num>, <path>, <id>.
//
// Every text has a signature, however short, long or broken.
//
// What this package does not do: it keeps no text, and a Normalizer learns
// nothing. That "Anna" and "Boris" are both names of colonists cannot be seen in
// a line alone, so words without digits stay words in templates. In quotation
// marks and after "key=" a word is masked, unless it carries meaning: the
// name of a type of fault, an answer, a state, an outcome, a level, or a word
// after a key such as status, exit_code or action. A quoted message is text, masked
// within; a number after such a key is a code, and stays. So do
// the results of calls: "returned 404".
//
// # Groups
//
// What one line cannot show, many can: a [Grouper] learns, from the templates
// of signatures that are new to it, what one log statement wrote, and puts it
// into one group, named by the first signature in it. Templates and ids are the
// same with and without one. Its memory is of fixed size; it is not safe for
// concurrent use. What templates of a group decide by, such as a code, is
// their variant: see [AppendVariant].
//
// # Laws
//
// For all texts, of any bytes, and for one Config:
//
//   - A template is its own template: AppendTemplate(nil, t, "") is t again, and so is its source.
//     So templates can be stored, edited, and given where a text is expected.
//   - Two entries have the same Key exactly if they have the same template,
//     but for collisions of 96 bits.
//   - A template holds no control characters and no white space but single
//     spaces, and line feeds between head, frames and source.
//
// # Canonical form
//
// The canonical form, as exact as another language needs to compute the same
// ids, is specified in docs/signatures.md, with the lists of
// words. The tests hold a second implementation of heads, in reference_test.go, which is
// written to be read, and test vectors, in testdata/ids.tsv.
//
// # How many frames
//
// [Config].MaxFrames is 8 by default. On 707 labeled entries with stacks in captured
// logs of a game, of 18 families of faults, the templates never mixed two
// families at any depth, and were 32 at every depth: the head identifies
// most. By their stacks alone, one or two frames mix two families, three to
// five frames one, six none; from eight on, nothing changes any more. More
// frames would only split a fault by who called.
//
// # Cost
//
// Memory, but for a Grouper: none but the result. Key never allocates; the appending methods do
// only if dst is too small, Signature only for templates of more than 1,024
// bytes.
//
// Time is linear in the length of any text: each byte is
// looked at a bounded number of times, which the tests try with text made to
// break that. A stack is read until MaxFrames frames were found.
//
// Heads are read 64 bytes at a time into bitmaps of where something has to be
// decided.
package signature
