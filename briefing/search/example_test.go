package search_test

import "fmt"

func Example() {
	fmt.Println("to be written")
	// Output: to be written
}
