package rules

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/heedlog/heed/event"
)

// A paraphrase says what a text says in other words, so that a reader decides about it as about the text. Each kind
// below makes the paraphrases of one text; what it does not apply to stays out.
var paraphrases = []struct {
	kind string
	make func(text string) []string
}{
	{"words", func(text string) []string { return otherWords(text, alikeWords) }},
	{"further words", func(text string) []string { return otherWords(text, furtherWords) }},
	{"order", otherOrder},
	{"type", otherType},
	{"names", otherNames},
	{"language", otherLanguage},
	{"no type", withoutType},
}

// alikeWords are words and phrases that mean the same to a reader of logs. The first of a line is what texts have, the
// others are what may stand for it.
var alikeWords = [][]string{
	{"Could not ", "Failed to ", "Unable to ", "Cannot ", "Was not able to "},
	{"could not ", "failed to ", "was unable to ", "cannot "},
	{"Cannot ", "Could not ", "Unable to "},
	{"Can't ", "Cannot ", "Unable to "},
	{"Failed to ", "Could not ", "Unable to ", "Failure to "},
	{"Unable to ", "Could not ", "Failed to "},
	{"Tried to ", "Attempted to ", "Attempt to ", "Trying to "},
	{" tried to ", " attempted to "},
	{"Trying to ", "Tried to ", "Attempting to "},
	{
		"Exception while ", "Exception when ", "An exception occurred while ", "Exception thrown while ",
		"Caught an exception while ",
	},
	{
		"Exception in ", "Exception at ", "An exception was thrown in ", "Exception thrown by ", "Unexpected exception in ",
	},
	{"Error while ", "Error when ", "An error occurred while ", "Failure while ", "Unexpected error while "},
	{"Error in ", "Failure in ", "An error occurred in ", "Unexpected error in "},
	{"Critical error ", "Fatal error ", "Severe error "},
	{"Caught exception ", "Caught an exception ", "Exception caught "},
	{" caused an exception ", " threw an exception ", " raised an exception "},
	{" threw exception ", " raised an exception ", " caused an exception "},
	{"An error occurred ", "An error happened ", "There was an error "},
	{" threw an exception", " raised an exception"},
	{"find ", "locate "},
	{" named ", " called ", " with the name "},
	{" while ", " when "},
	{" because ", " since "},
	{" twice", " a second time", " two times"},
	{" already ", " by now "},
	{"reference to ", "link to "},
	{"references ", "links "},
	{" corrupted", " damaged"},
	{" not valid", " invalid"},
	{"loading ", "reading "},
	{" load ", " read "},
	{"generating ", "creating "},
	{"instantiating ", "creating "},
	{"instantiate ", "create "},
	{"textures ", "images "},
	{"Texture ", "Image "},
	{"dependencies ", "requirements "},
	{" errors", " faults"},
	{"Duplicate ", "Second "},
	{"destroyed", "deleted"},
	{"unknown ", "unrecognized "},
	{"empty ", "void "},
	{" spawn ", " place "},
	{"Suppressing further errors", "Further errors are not shown"},
	{"not supported", "unsupported"},
	{" has no ", " lacks a "},
	{" is missing", " is absent"},
	{"drawing ", "rendering "},
	{"saving ", "writing "},
	{" save ", " write "},
	{"registering ", "entering "},
	{" register ", " enter "},
}

// furtherWords are as alikeWords. They were chosen before rules were mended by the first table, and first tried when they
// had been.
var furtherWords = [][]string{
	{"Could not ", "Couldn't ", "Impossible to ", "Did not manage to ", "Not able to "},
	{"could not ", "couldn't ", "did not manage to ", "was not able to "},
	{"Cannot ", "Can't ", "Impossible to "},
	{"Can't ", "Couldn't ", "Impossible to "},
	{"Failed to ", "Couldn't ", "Impossible to ", "Did not manage to "},
	{"Unable to ", "Couldn't ", "Not able to "},
	{"Tried to ", "An attempt was made to ", "Wanted to "},
	{"Exception while ", "Unhandled exception while ", "Exception raised while ", "Exception occurred while "},
	{"Exception in ", "Exception from ", "Unhandled exception in ", "Exception raised in ", "Exception occurred in "},
	{"Error while ", "Problem while ", "Internal error while ", "Error occurred while "},
	{"Error in ", "Problem in ", "Internal error in ", "Error occurred in "},
	{" threw exception ", " has thrown an exception ", " failed with an exception "},
	{" caused an exception ", " failed with an exception ", " ended in an exception "},
	{"Caught exception ", "An exception was caught ", "Got an exception "},
	{"Critical error ", "Serious error ", "Internal error "},
	{"An error occurred ", "An error came up ", "Error occurred "},
	{" threw an exception", " failed with an exception"},
	{" named ", " titled ", " of the name "},
	{" while ", " on ", " upon "},
	{"loading ", "restoring ", "retrieving "},
	{" load ", " restore ", " retrieve "},
	{"reference to ", "pointer to ", "ref to "},
	{"generating ", "making ", "building "},
	{"instantiating ", "constructing ", "making "},
	{" corrupted", " broken", " unreadable"},
	{"destroyed", "removed"},
	{" twice", " once more"},
	{"textures ", "pictures "},
	{" errors", " problems"},
	{"saving ", "storing "},
	{"drawing ", "painting "},
	{"find ", "look up "},
}

// ownMeaning hides words of which the meaning is their own, not that of their parts.
var ownMeaning = strings.NewReplacer("load ID", "load\x00ID", "loadID", "load\x00id")

// otherWords replaces one phrase at a time, with each of its synonyms, and then all of them with their first.
func otherWords(text string, table [][]string) []string {
	var out []string
	kept := ownMeaning.Replace(text)
	all := kept
	for _, s := range table {
		for _, other := range s[1:] {
			if changed := strings.Replace(kept, s[0], other, 1); changed != kept {
				out = append(out, changed)
			}
		}
		all = strings.Replace(all, s[0], s[1], 1)
	}
	if len(out) > 1 {
		out = append(out, all)
	}
	for i, o := range out {
		o = strings.ReplaceAll(o, "load\x00ID", "load ID")
		out[i] = strings.ReplaceAll(o, "load\x00id", "loadID")
	}
	return out
}

var thrown = regexp.MustCompile(`^(.+?): ((?:[A-Z][A-Za-z]*\.)*[A-Z][A-Za-z]*Exception)(: .+)?$`)

// otherOrder puts what was thrown before where that was, and what was done before what came of it.
func otherOrder(text string) []string {
	var out []string
	m := thrown.FindStringSubmatch(text)
	if m != nil && !strings.HasSuffix(m[1], "Exception") && !strings.Contains(text, "--->") {
		out = append(out,
			fmt.Sprintf("%s%s (%s)", m[2], m[3], m[1]),
			fmt.Sprintf("%s - %s%s", m[1], m[2], m[3]),
			fmt.Sprintf("%s. The exception was: %s%s", m[1], m[2], m[3]))
	}
	if what, doing, ok := strings.Cut(text, " while "); ok && !strings.ContainsAny(doing, ".:(") {
		out = append(out, "While "+doing+": "+what)
	}
	return out
}

// usual are exceptions that any mistake in a program throws: which of them says nothing about what it does to a game.
var usual = []string{
	"NullReferenceException", "InvalidCastException", "IndexOutOfRangeException", "ArgumentOutOfRangeException",
	"InvalidOperationException", "ArgumentNullException", "DivideByZeroException", "FormatException",
}

var usualText = map[string]string{
	"NullReferenceException":      "Object reference not set to an instance of an object",
	"InvalidCastException":        "Specified cast is not valid.",
	"IndexOutOfRangeException":    "Index was outside the bounds of the array.",
	"ArgumentOutOfRangeException": "Index was out of range. Must be non-negative and less than the size of the collection.",
	"InvalidOperationException":   "Collection was modified; enumeration operation may not execute.",
	"ArgumentNullException":       "Value cannot be null.",
	"DivideByZeroException":       "Attempted to divide by zero.",
	"FormatException":             "Input string was not in a correct format.",
}

// otherType has another usual exception thrown, with its own text, or a mod's own.
func otherType(text string) []string {
	var out []string
	for _, is := range usual {
		i := strings.Index(text, is)
		if i < 0 || strings.Contains(text, "--->") {
			continue
		}
		head := text[:i]
		for _, other := range usual {
			if other != is {
				out = append(out, head+other+": "+usualText[other])
			}
		}
		break
	}
	return out
}

// otherNames gives things, mods and people other names, in other scripts too.
func otherNames(text string) []string {
	var out []string
	for _, names := range [][]string{
		{"Widget", "Sprocket", "widget", "sprocket", "author.", "someone.", "Ann", "Boris", "Other", "Third"},
		{"Widget", "QuantumTeapot", "widget", "quantumteapot", "author.", "九龙.", "Ann", "Владимир", "Other", "Drittes"},
	} {
		if changed := strings.NewReplacer(names...).Replace(text); changed != text {
			out = append(out, changed)
		}
	}
	return out
}

// localized are texts of .NET, the Java runtime and Windows as they write them in German, French, Russian, Chinese, Spanish
// and Portuguese. Go programs, for which the generic rules are, write English.
//
//nolint:misspell // other languages
var localized = map[string][6]string{
	"Object reference not set to an instance of an object": {
		"Der Objektverweis wurde nicht auf eine Objektinstanz festgelegt",
		"La référence d'objet n'est pas définie à une instance d'un objet",
		"Ссылка на объект не указывает на экземпляр объекта", "未将对象引用设置到对象的实例",
		"Referencia a objeto no establecida como instancia de un objeto",
		"Referência de objeto não definida para uma instância de um objeto",
	},
	"Index was outside the bounds of the array": {
		"Der Index war außerhalb des Arraybereichs", "L'index se trouve en dehors des limites du tableau",
		"Индекс находился вне границ массива", "索引超出了数组界限", "Índice fuera de los límites de la matriz",
		"O índice estava fora dos limites da matriz",
	},
	"Index was out of range": {
		"Der Index lag außerhalb des Bereichs", "L'index était hors limites", "Индекс за пределами диапазона", "索引超出范围",
		"El índice estaba fuera del intervalo", "O índice estava fora do intervalo",
	},
	"The given key was not present in the dictionary": {
		"Der angegebene Schlüssel war nicht im Wörterbuch angegeben", "La clé donnée était absente du dictionnaire",
		"Данный ключ отсутствует в словаре", "给定关键字不在字典中", "La clave proporcionada no se encontró en el diccionario",
		"A chave fornecida não estava presente no dicionário",
	},
	"Specified cast is not valid": {
		"Die angegebene Umwandlung ist ungültig", "Le cast spécifié n'est pas valide", "Указанное приведение недопустимо",
		"指定的转换无效", "La conversión especificada no es válida", "Conversão especificada não é válida",
	},
	"Value cannot be null": {
		"Der Wert darf nicht NULL sein", "La valeur ne peut pas être null", "Значение не может быть неопределенным",
		"值不能为 null", "El valor no puede ser nulo", "O valor não pode ser nulo",
	},
	"Method not found: ": {
		"Methode nicht gefunden: ", "Méthode introuvable : ", "Метод не найден: ", "找不到方法: ", "Método no encontrado: ",
		"Método não encontrado: ",
	},
	"Unable to cast object": {
		"Das Objekt des Typs", "Impossible d'effectuer un cast d'un objet", "Не удалось привести тип объекта",
		"无法将类型为", "No se puede convertir un objeto", "Não é possível converter um objeto",
	},
	"Sequence contains no": {
		"Die Sequenz enthält keine", "La séquence ne contient aucun", "Последовательность не содержит", "序列不包含任何",
		"La secuencia no contiene", "A sequência não contém",
	},
	"Collection was modified": {
		"Die Auflistung wurde geändert", "La collection a été modifiée", "Коллекция была изменена", "集合已修改",
		"Colección modificada", "A coleção foi modificada",
	},
	"Input string was not in": {
		"Die Eingabezeichenfolge hat das falsche Format", "Le format de la chaîne d'entrée est incorrect",
		"Входная строка имела неверный формат", "输入字符串的格式不正确", "La cadena de entrada no tiene el formato",
		"A cadeia de caracteres de entrada não estava",
	},
	"An item with the same key": {
		"Ein Element mit dem gleichen Schlüssel", "Un élément avec la même clé", "Элемент с тем же ключом",
		"已添加了具有相同键的项", "Ya se agregó un elemento con la misma clave",
		"Já foi adicionado um item com a mesma chave",
	},
	"Attempted to divide by zero": {
		"Es wurde versucht, durch", "Tentative de division par zéro", "Попытка деления на нуль", "尝试除以零",
		"Intento de dividir por cero", "Tentativa de divisão por zero",
	},
	"Nullable object must have": {
		"Das Objekt mit Nullwert muss", "Un objet Nullable doit", "Объект, допускающий значение", "可为空的对象必须",
		"El objeto que acepta valores", "O objeto que permite valor nulo",
	},
	"Operation is not valid due to": {
		"Der Vorgang ist aufgrund des aktuellen", "L'opération n'est pas valide en raison",
		"Операция является недопустимой из-за", "对象的当前状态使该操作无效", "La operación no es válida debido al",
		"A operação não é válida devido ao",
	},
	"Arithmetic operation resulted": {
		"Die arithmetische Operation hat einen", "L'opération arithmétique a provoqué",
		"Переполнение в результате выполнения", "算术运算导致溢出", "La operación aritmética ha provocado",
		"A operação aritmética resultou",
	},
	"Array index is out of range": {
		"Der Index war außerhalb des Arraybereichs", "L'index se trouve en dehors des limites du tableau",
		"Индекс находился вне границ массива", "索引超出了数组界限", "Índice fuera de los límites de la matriz",
		"O índice estava fora dos limites da matriz",
	},
	"Argument is out of range": {
		"Das angegebene Argument liegt außerhalb", "L'argument spécifié n'était pas dans les limites",
		"Указанный аргумент находится вне", "指定的参数已超出", "El argumento especificado está fuera",
		"O argumento especificado estava fora",
	},
	"Argument cannot be null": {
		"Der Wert darf nicht NULL sein", "La valeur ne peut pas être null",
		"Значение не может быть неопределенным", "值不能为 null", "El valor no puede ser nulo",
		"O valor não pode ser nulo",
	},
	"Cannot cast from source type": {
		"Die angegebene Umwandlung ist ungültig", "Le cast spécifié n'est pas valide",
		"Указанное приведение недопустимо", "指定的转换无效", "La conversión especificada no es válida",
		"Conversão especificada não é válida",
	},
	"Field not found: ": {
		"Feld nicht gefunden: ", "Champ introuvable : ", "Поле не найдено: ", "找不到字段: ", "Campo no encontrado: ",
		"Campo não encontrado: ",
	},
	"Could not load type ": {
		"Der Typ in der Assembly wurde nicht geladen: ", "Impossible de charger le type ",
		"Не удалось загрузить тип ", "未能加载类型", "No se puede cargar el tipo ", "Não foi possível carregar o tipo ",
	},
	"Could not load file or assembly": {
		"Die Datei oder Assembly konnte nicht geladen werden:", "Impossible de charger le fichier ou l'assembly",
		"Не удалось загрузить файл или сборку", "未能加载文件或程序集", "No se puede cargar el archivo o ensamblado",
		"Não foi possível carregar arquivo ou assembly",
	},
	"Exception has been thrown by the target of an invocation": {
		"Ein Aufrufziel hat einen Ausnahmefehler verursacht", "Une exception a été levée par la cible d'un appel",
		"Адресат вызова создал исключение", "调用的目标发生了异常",
		"Se produjo una excepción en el destino de la invocación", "Uma exceção foi acionada pelo destino de uma chamada",
	},
	"Thread was being aborted": {
		"Der Thread wurde abgebrochen", "Le thread a été abandonné", "Поток находился в процессе прерывания", "正在中止线程",
		"Subproceso anulado", "O thread estava sendo anulado",
	},
	"Insufficient memory to continue the execution of the program": {
		"Nicht genügend Arbeitsspeicher, um die Ausführung des Programms fortzusetzen",
		"Mémoire insuffisante pour continuer l'exécution du programme", "Недостаточно памяти для продолжения выполнения программы",
		"没有足够的内存继续执行程序", "No hay memoria suficiente para continuar con la ejecución del programa",
		"Memória insuficiente para continuar a execução do programa",
	},
	"Root element is missing": {
		"Das Stammelement ist nicht vorhanden", "L'élément racine est manquant", "Корневой элемент отсутствует", "缺少根元素",
		"Falta el elemento raíz", "Elemento raiz inexistente",
	},
	"Could not find a part of the path": {
		"Ein Teil des Pfades konnte nicht gefunden werden", "Impossible de trouver une partie du chemin d'accès",
		"Не удалось найти часть пути", "未能找到路径的一部分", "No se puede encontrar una parte de la ruta de acceso",
		"Não foi possível localizar uma parte do caminho",
	},
	"Access to the path is denied": {
		"Der Zugriff auf den Pfad wurde verweigert", "L'accès au chemin d'accès est refusé", "Отказано в доступе по пути",
		"对路径的访问被拒绝", "Acceso denegado a la ruta de acceso", "O acesso ao caminho foi negado",
	},
	"Disk full": {
		"Der Datenträger ist voll", "Espace insuffisant sur le disque", "Недостаточно места на диске", "磁盘空间不足",
		"Espacio en disco insuficiente", "Espaço insuficiente no disco",
	},
	"The operation has timed out": {
		"Das Timeout für den Vorgang wurde überschritten", "Le délai d'attente de l'opération a expiré",
		"Время ожидания операции истекло", "操作已超时", "Se ha terminado el tiempo de espera de la operación",
		"O tempo limite da operação foi atingido",
	},
	"Not enough memory resources are available to process this command": {
		"Für diesen Befehl ist nicht genügend Speicher verfügbar", "Mémoire insuffisante pour traiter cette commande",
		"Недостаточно ресурсов памяти для обработки этой команды", "内存资源不足，无法处理此命令。",
		"No hay suficientes recursos de memoria disponibles para procesar este comando",
		"Recursos de memória insuficientes disponíveis para processar este comando",
	},
	"Connection refused": {
		"Verbindungsaufbau abgelehnt", "Connexion refusée", "В соединении отказано", "拒绝连接", "Conexión rehusada",
		"Conexão recusada",
	},
}

func otherLanguage(text string) []string {
	if !strings.Contains(text, "Exception") {
		return nil
	}
	return translations(text)
}

// translations returns a text with each sentence of localized in it in the other languages.
func translations(text string) []string {
	var out []string
	for _, english := range slices.Sorted(maps.Keys(localized)) {
		if strings.Contains(text, english) {
			for _, other := range localized[english] {
				out = append(out, strings.ReplaceAll(text, english, other))
			}
		}
	}
	return out
}

// inEnglish are the rules that know a sentence in English alone, with the form that a log in another language lacks.
var inEnglish = map[string]string{
	"exception.linkage":    "the name of the assembly, which is a quoted text",
	"shutdown.interrupted": "the type of the exception",
}

// TestLanguages gives a rule the texts of its tests as a program in another language writes them. The disposition is that
// of the English text, by a rule that looks at the form: a type, a number or stack frames.
func TestLanguages(t *testing.T) {
	set := defaultSet()
	ev, all := set.NewEvaluator(), 0
	known := map[string]bool{}
	for _, test := range set.relink().tests(set) {
		d := test.decl
		want := decideTest(set, ev, d, d.Message).Disposition
		for _, text := range translations(d.Message) {
			all++
			got := decideTest(set, ev, d, text)
			if got.Disposition != want && inEnglish[test.rule.ID] == "" {
				t.Errorf("%s: %s by %s, not %s: %q phase %q level %s", test.rule.ID, got.Disposition, got.Rule, want, text,
					d.phase, d.Level)
			}
			known[test.rule.ID] = known[test.rule.ID] || got.Disposition != want
		}
	}
	t.Logf("%d texts", all)
	for id := range inEnglish {
		assert.True(t, known[id], "%s decides other languages alike: take it from inEnglish", id)
	}
}

// TestExceptionTexts holds that the list of texts of exceptions has each of them in all languages.
func TestExceptionTexts(t *testing.T) {
	set := defaultSet()
	ev := set.NewEvaluator()
	decide := func(text string) string {
		d := &testDecl{Entry: event.Entry{Stack: trace, Level: event.LevelError}, phase: "play"}
		return decideTest(set, ev, d, "Turning the widget: "+text+" x").Rule
	}
	texts := 0
	for english, others := range localized {
		if decide(english) != "exception.untyped" {
			continue
		}
		texts++
		for _, other := range others {
			assert.Equal(t, "exception.untyped", decide(other), "%s: %s", english, other)
		}
	}
	assert.Equal(t, 22, texts, "two begin alike")
}

// decideTest returns what a set decides about a text in place of the text of a test.
func decideTest(set *Set, ev *Evaluator, d *testDecl, text string) event.Decision {
	in := inputOf(set, d, text)
	return ev.Evaluate(&in).Decision
}

// inputOf returns what a set sees of a test with another text.
func inputOf(set *Set, d *testDecl, text string) Input {
	e := d.Entry
	e.Message = text
	return InputOf(&e, string(set.normalizer.AppendTemplate(nil, text, d.Stack)), d.phase)
}

var typeInFront = regexp.MustCompile(`^(?:[A-Z][A-Za-z]*\.)*[A-Z][A-Za-z]*Exception: `)

// withoutType leaves the text of an exception only, in all languages, as code logs it that has the exception's message
// and not the exception.
func withoutType(text string) []string {
	head := typeInFront.FindString(text)
	if head == "" {
		return nil
	}
	out := []string{strings.TrimPrefix(text, head)}
	for _, other := range otherLanguage(text) {
		out = append(out, strings.TrimPrefix(other, head))
	}
	return out
}

// trace is what comes with an exception in a log. Tests of rules leave it out where it does not matter to them.
const trace = "  at Widgets.Maker.Make () [0x00001] in <0123456789abcdef0123456789abcdef>:0\n" +
	"  at Verse.Thing.DoTick () [0x00001] in <0123456789abcdef0123456789abcdef>:0"

// leastAlike is the share of paraphrases that must be decided as the text that they paraphrase, of all and of each kind
// where that is less.
var leastAlike = map[string]float64{"total": 0.90, "further words": 0.88}

// TestParaphrases rewords the texts that rules are tested with and compares what is decided about both. A rule that
// knows the words of one log says nothing about the next one; there, rules that look at the form must decide alike. It
// prints the share for each file of rules and each kind of paraphrase, and with -v the ones that are decided otherwise.
func TestParaphrases(t *testing.T) {
	set := defaultSet()
	ev := set.NewEvaluator()
	decide := func(d *testDecl, text string) event.Decision { return decideTest(set, ev, d, text) }
	type share struct{ alike, all int }
	byFile, byKind, byRule := map[string]*share{}, map[string]*share{}, map[string]*share{}
	count := func(m map[string]*share, key string, alike bool) {
		if m[key] == nil {
			m[key] = &share{}
		}
		m[key].all++
		if alike {
			m[key].alike++
		}
	}
	for _, test := range set.relink().tests(set) {
		d := test.decl
		if !d.match || d.Kind != event.KindLog || test.rule.Continue || strings.Contains(d.Message, "\n") {
			continue
		}
		if d.Stack == "" && strings.Contains(d.Message, "Exception: ") {
			withStack := *d
			withStack.Stack = trace
			d = &withStack
		}
		want := test.rule.Disposition
		if decide(d, d.Message).Disposition != want {
			continue
		}
		for _, p := range paraphrases {
			for _, text := range p.make(d.Message) {
				got := decide(d, text)
				alike := got.Disposition == want
				count(byFile, origin(test.rule), alike)
				count(byFile, "total", alike)
				count(byKind, p.kind, alike)
				count(byRule, test.rule.ID, alike)
				if want == event.Blocking || got.Disposition == event.Blocking {
					count(byKind, "blocking or not", alike)
				}
				if !alike {
					t.Logf("%s (%s): %s by %s, not %s: %q phase %q level %s", test.rule.ID, p.kind, got.Disposition,
						got.Rule, want, text, d.phase, d.Level)
				}
			}
		}
	}
	for _, m := range []map[string]*share{byKind, byFile} {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			t.Logf("%-16s %4d of %4d decided alike: %.3f", key, m[key].alike, m[key].all,
				float64(m[key].alike)/float64(m[key].all))
		}
	}
	worst := slices.SortedFunc(maps.Keys(byRule), func(a, b string) int {
		return cmp.Or(byRule[a].alike*byRule[b].all-byRule[b].alike*byRule[a].all, strings.Compare(a, b))
	})
	for _, id := range worst[:12] {
		t.Logf("worst: %-28s %3d of %3d", id, byRule[id].alike, byRule[id].all)
	}
	byKind["total"] = byFile["total"]
	for kind, n := range byKind {
		least, ok := leastAlike[kind]
		if !ok {
			least = leastAlike["total"]
		}
		assert.GreaterOrEqual(t, float64(n.alike)/float64(n.all), least, kind)
	}
}

// TestAdviceAtStart: no default rule that can decide before a game is loaded sends a player to a save then.
func TestAdviceAtStart(t *testing.T) {
	set := defaultSet()
	inPlay := regexp.MustCompile(`^(save|load|jobs|ticking|map|ui|persistence)[.]`)
	for _, r := range set.Rules() {
		if !inPlay.MatchString(r.ID) || r.ID == "load.long_event" {
			assert.NotRegexp(t, `(?i)(older|last|the) save\b|not save|saved game`, r.AdviceAtStart,
				"%s: put the part of its advice that is for a loaded game into brackets", r.ID)
		}
	}
	ev := set.NewEvaluator()
	for text, want := range map[string]string{
		"Could not execute post-long-event action. Exception: System.NullReferenceException: x": "Restart the game; if it " +
			"happens again, update or remove the mod at fault.",
		"Could not execute post-long-event action. Exception: System.MissingMethodException: x": set.Rule("advice.misfit").Advice,
		"========== OUTPUTTING STACK TRACE": "Start the game again. If it crashes again, update the graphics driver, verify the game's files, and try " +
			"without the mods added last.",
	} {
		o := ev.Evaluate(&Input{Kind: event.KindLog, Template: text, Message: text, Phase: "boot"})
		assert.Equal(t, want, o.Advice, text)
	}
}
