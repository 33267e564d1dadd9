package search_test

import (
	"context"
	"fmt"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/search"
)

func Example() {
	index, err := search.New(search.Config{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = index.Close() }()
	for id, message := range []string{
		"Exception ticking Ferry12: System.NullReferenceException",
		"Exception ticking Crane7: System.InvalidOperationException",
		"Loaded 12 sounds",
	} {
		err := index.Put(search.Document{
			Group: "message", ID: fmt.Sprint(id), Text: message,
			Fragment: briefing.Fragment{SourceID: fmt.Sprintf("1/%d", id+1), Title: message},
		})
		if err != nil {
			panic(err)
		}
	}
	found, err := index.Searcher("message").Search(context.Background(), nil, "exception in a ferry", 5, 0.1)
	if err != nil {
		panic(err)
	}
	for _, f := range found.Fragments {
		fmt.Printf("%s %.2f %s\n", f.SourceID, f.Relevance, f.Title)
	}
	// Output:
	// 1/1 0.39 Exception ticking Ferry12: System.NullReferenceException
	// 1/2 0.14 Exception ticking Crane7: System.InvalidOperationException
}
