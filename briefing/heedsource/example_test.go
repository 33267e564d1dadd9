package heedsource_test

import "fmt"

func Example() {
	fmt.Println("to be written")
	// Output: to be written
}
