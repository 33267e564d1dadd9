// Package signature finds the shape of a log entry: its text without what
// varies from one occurrence to the next, and a number that stands for it.
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
// [TemplateID] hashes a template to the [ID] of the shape, which anybody can
// compute again anywhere and for ever; [Of] adds a second, independent hash,
// and the two make a [Signature], the key to use wherever entries are counted,
// cached or compared. [Normalizer.Key] is the way there for the hot path: it
// hashes the template without building it, into a key that holds within the
// process, for a table from keys to signatures. [Normalizer.AppendDisplay] is
// the template for people, with <num>, <path>, <id> and the like.
//
// Every text has a signature, however short, long or broken.
//
// What this package does not do: it learns nothing and keeps nothing. That
// "Anna" and "Boris" are both names of colonists cannot be seen in a line
// alone. Words without digits stay words.
//
// # Laws
//
// For all texts, of any bytes, and for one Config:
//
//   - A template is its own template: AppendTemplate(nil, t, "") is t again.
//     So templates can be stored, edited, and given where a text is expected.
//   - Two entries have the same Key exactly if they have the same template,
//     but for collisions of 96 bits.
//   - A template holds no control characters and no white space but single
//     spaces, and line feeds between head and frames.
//
// # Canonical form
//
// This is version 1, as exact as another implementation needs. The tests hold
// a second one, in reference_test.go, which is written to be read, and test
// vectors, in testdata/ids.tsv.
//
// Text is bytes. Space is 0x00 to 0x20 and 0x7F. Narrow bytes are ASCII
// letters, digits, '_', '$' and 0x80 to 0xDF; wide bytes are 0xE0 to 0xFF; both
// are word bytes. Glue is any of . - / \ ~ + ` and a slash is / or \. A narrow
// token is one or more narrow bytes, joined by single glue bytes. A wide token
// is a wide byte and all bytes of 0x80 to 0xBF and 0xE0 to 0xFF that follow.
//
// The head is the first line (lines end in a line feed) that is not all space.
// If blank lines precede it and it shows a frame, the head is empty. If the
// next line begins with the name of an exception, the head is both lines. That
// is a letter, then narrow bytes, '.' and '+', with Exception or Error at the
// end, and then the end of the line, one of : ` [ or space and '('. Space at
// both ends of the head is cut off.
//
// Then the head is read from left to right. At each position the first rule
// that applies decides; "after X" never looks back past the last variable. A
// variable becomes the mask, all else stays.
//
//  1. A narrow token is a variable if
//     it is one letter before :/ or :\ (a Windows path, see below);
//     it has no \ / ` and bytes of 0x80 to 0xBF, and "://" follows (a URL: with it
//     goes what follows of the bytes of file names and [ ] , ; : |);
//     it has a '.', no slash and no digit, does not end in a keyword, and a colon
//     and a digit follow (a host with its port: the token alone);
//     it begins three to eight groups of one to four hexadecimal digits, with ':' or
//     '::' between them, of which the last ends where a narrow token would, and one
//     holds a digit proper (an address, or a time), unless after a keyword;
//     it holds a digit, other than those that follow a `, unless it is kept or after
//     a keyword;
//     it holds two slashes, or ends in an extension, and is not protected;
//     it is Jan, Feb, Mar, Apr, Jun, Jul, Aug, Sep, Sept, Oct, Nov, Dec, another
//     month in full, Mon, Tue, Tues, Wed, Thu, Thur, Thurs, Fri, Sat, Sun, or a day
//     of the week in full, and is not protected; May and March only if space, or
//     nothing, and a digit follow;
//     it is small letters, '-' and '.' with a '.' before a last part of com, net,
//     org, edu, gov, mil, info, biz, local, localdomain or arpa, and not protected;
//     it is eight or more letters of a to f, in any case, and not protected, and not
//     after a keyword;
//     it stands after "user", itself after one of for, invalid, Invalid, unknown,
//     Unknown, illegal or Illegal, with space between and space or nothing before,
//     and is not protected.
//  2. A wide token is no variable.
//  3. "<*>" is a variable. So are the tags <b>, <i>, <color>, <size>, <material>
//     and <quad>, also with "=value", where value has no space and none of <>"',
//     or as </b>.
//  4. A quotation is one. It is opened by " or ' that is not after a word byte or a
//     variable, and not before space or the end; it is closed by the next of the
//     same mark that is not after space, nor before a word byte or "<*>". None is
//     opened before three to seven capitals and space, or four words of one to
//     seven small letters, each with space after it; nor around a single token
//     or "<*>" if that is a protected narrow token, or follows ',' or '{' (and space)
//     and is followed by ':'.
//  5. '-' or '+' and a narrow token that begins with a digit are one, if not after a
//     word byte, a variable or a keyword, and not protected.
//  6. A path is one, if it is at the beginning or after space, a variable, or any of
//     "'([{,;:=|.@# and consists of '/' or './' or '../' (or with '\' after the dots)
//     before a word byte, and all bytes of file names that follow: word bytes and any
//     of . - / \ ~ + @ % # = & ? ! ^ *
//     The same places open a path with two backslashes, maybe '?\' or '.\', and then
//     a letter and ':', or a word byte.
//  7. '=' after a word byte or a variable makes the narrow or wide token after it a
//     variable, also without any of the above, unless the token is protected, after
//     a keyword or one of true, false, null, none, yes, no, on, off (also with a
//     capital), TRUE, FALSE, NULL, nil.
//  8. "()" after space after a variable holds an empty variable.
//  9. Any other byte is no variable.
//
// A keyword is code, status, hresult or errno in any case, where it is not part
// of a longer word (exitCode, exit_code) and only space and any of : = ( [ #
// stand between it and the token, at least one of them; or "was" after "error"
// and space. So codes stay: 404 is not 500.
//
// Kept are the words that [Config] protects and those of a short list of names
// of types and formats (Int32, Texture2D, UTF-8, x86_64, …: wellKnown in
// words.go), and a token that does not begin with a digit, if all its parts
// between dots that hold a digit are such words. Protected are the same words.
//
// Paths and URLs lose, at their end, bytes that are neither word bytes nor
// slashes. A Windows path, or one that begins with two backslashes, may go on
// over a byte that is not of a file name: if its last name has no extension,
// and within 1 to 63 more bytes that are of file names, or space, or any of
// ,'()[] there is a slash that is not after space and before a byte that is no
// space; brackets in between, of either kind, are balanced, and none of the words and, as, at,
// because, but, by, for, from, in, into, is, on, or, to, was, with stands
// between spaces. An extension is a '.' after a byte that is no slash, a letter
// and up to four letters or digits.
//
// A variable takes in the variable that follows it, if only space and any of
// , ; : - / | @ # ~ + are between, and the unit that follows it, if only space
// is between: a narrow token that is not protected and all whose parts between
// slashes are in a list of units of time, size and frequency, AM, PM and time
// zones (isUnit in masks.go). The result is a variable, and takes in the next.
//
// In what stays, each run of space becomes one space.
//
// Frames are found in the lines of the message after the head, then in the
// stack. Lines that show no frame do not count: bodies of messages, separators,
// annotations of patching libraries. A frame shows as in the list at
// parseFrame in stack.go; its canonical name is its parts, as described at
// parts in frame.go: no arguments, offsets, build ids, line numbers, generic
// arguments, ordinals of patches and lambdas; nested types after '/', methods
// after '.'. Frames of the logger itself are left out, and of the others the
// first [Config].MaxFrames count. Each is a line of the template, "at " and the
// name.
//
// The ID is the XXH64, seed 0, of the template's bytes. The Check of a
// Signature is their 32-bit FNV-1a.
//
// # How many frames
//
// [DefaultMaxFrames] is 8. On 707 labeled entries with stacks in captured
// logs of a game, of 18 families of faults, the templates never mixed two
// families at any depth, and were 32 at every depth: the head tells most of
// it. By their stacks alone, one or two frames mix two families, three to
// five frames one, six none; from eight on, nothing changes any more. More
// frames would only split a fault by who called.
//
// # Cost
//
// Memory: none but the result. Key never allocates; the appending methods do
// only if dst is too small, Signature only for templates of more than 1,024
// bytes.
//
// Time is linear in the length of the text, whatever is in it: each byte is
// looked at a bounded number of times, which the tests try with text made to
// break that. A stack is read until MaxFrames frames were found.
//
// BenchmarkKey, on one 2.7 GHz Xeon core that computes XXH64 of 120 bytes in
// 13.5 ns: 90 ns for 79 bytes of plain words, 140 ns for 82 bytes with one id,
// 170 ns for 69 bytes with an id and a vector, 210 ns for 87 bytes with numbers,
// an address, an id and a path, 430 ns for 90 bytes with seven keys and values.
// Plain words are skipped eight bytes at a time; what costs is where variables
// begin and end.
package signature
