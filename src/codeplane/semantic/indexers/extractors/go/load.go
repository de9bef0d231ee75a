package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// A package as `go list` describes it. One that is compiled again for a test is another one, with the test's
// name in brackets behind its path.
type listing struct {
	Dir, ImportPath, Name, ForTest    string
	Standard                          bool
	GoFiles, CgoFiles, IgnoredGoFiles []string
	TestGoFiles, XTestGoFiles         []string
	ImportMap                         map[string]string
	Module                            *struct{ Path string }
	Error                             *struct{ Err string }
}

// The path that a package's symbols have.
func (l *listing) path() string {
	path, _, _ := strings.Cut(l.ImportPath, " ")
	return path
}

func (l *listing) module() string {
	if l.Standard {
		return "std"
	}
	if l.Module != nil {
		return l.Module.Path
	}
	return l.path()
}

// A package with its types; `files` and `info` are there for packages of the repository alone.
type unit struct {
	*listing
	types *types.Package
	files []*ast.File
	info  *types.Info
}

// How packages are selected: the variables of `go env` and the tags of a build.
type configuration struct{ goos, goarch, tags string }

func (c configuration) environment() []string {
	var variables []string
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "GO111MODULE=") && !strings.HasPrefix(one, "GOFLAGS=") {
			variables = append(variables, one)
		}
	}
	if c.goos != "" {
		variables = append(variables, "GOOS="+c.goos, "GOARCH="+c.goarch)
	}
	return variables
}

type loader struct {
	fset     *token.FileSet
	listings map[string]*listing
	order    []*listing
	units    map[string]*unit
	modules  map[string]string // of packages by path
	isOwn    func(*listing) bool
	problems *problems
}

// What `go list` prints; an error where it prints nothing.
func list(root string, config configuration, arguments, patterns []string) ([]byte, error) {
	command := exec.Command("go", append(append(arguments, "--"), patterns...)...)
	command.Dir = root
	command.Env = config.environment()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil && len(output) == 0 {
		return nil, fmt.Errorf("go list: %v: %s", err, strings.TrimSpace(stderr.String()))
	}
	return output, nil
}

// A copy of go.mod with the module's own path and version of Go alone. A requirement that is not in the
// module cache ends `go list` as a whole, also for packages that import nothing of it; without it, what
// other modules declare is missing, as after any import that fails.
func withoutRequirements(root string) (string, func(), error) {
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", nil, err
	}
	var lines []string
	for _, line := range strings.Split(string(content), "\n") {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "module" || words[0] == "go") {
			lines = append(lines, line)
		}
	}
	folder, err := os.MkdirTemp("", "cpl-")
	if err != nil {
		return "", nil, err
	}
	remove := func() { os.RemoveAll(folder) }
	path := filepath.Join(folder, "go.mod")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

func newLoader(root string, config configuration, patterns []string, isOwn func(*listing) bool, told *problems) (*loader, error) {
	arguments := []string{"list", "-e", "-deps", "-test", "-json"}
	if config.tags != "" {
		arguments = append(arguments, "-tags="+config.tags)
	}
	output, err := list(root, config, arguments, patterns)
	if err != nil {
		modfile, remove, failure := withoutRequirements(root)
		if failure != nil {
			return nil, err
		}
		defer remove()
		told.add(err.Error())
		// Without `go.sum`, only `mod` lets a module be listed.
		if output, failure = list(root, config, append(arguments, "-mod=mod", "-modfile="+modfile), patterns); failure != nil {
			return nil, err
		}
	}
	l := &loader{
		fset:     token.NewFileSet(),
		listings: map[string]*listing{},
		units:    map[string]*unit{},
		modules:  map[string]string{},
		isOwn:    isOwn,
		problems: told,
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var one listing
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %v", err)
		}
		// The main program of a test is generated.
		if strings.HasSuffix(one.ImportPath, ".test") && one.Name == "main" {
			continue
		}
		l.listings[one.ImportPath] = &one
		l.modules[one.path()] = one.module()
		l.order = append(l.order, &one)
		if one.Error != nil && isOwn(&one) {
			told.add(one.Error.Err)
		}
	}
	return l, nil
}

// The types of a package. Function bodies are checked where `whole` is asked for, in a package of the
// repository; a package that has been checked without is checked again then.
func (l *loader) load(path string, whole bool) *unit {
	one, isListed := l.listings[path]
	if !isListed {
		return nil
	}
	if done, isLoaded := l.units[path]; isLoaded && !whole {
		return done
	}
	l.units[path] = nil // an import cycle is an error, not a loop
	loaded := l.check(one, whole)
	l.units[path] = loaded
	return loaded
}

func (l *loader) check(one *listing, whole bool) *unit {
	isOwn := l.isOwn(one)
	loaded := &unit{listing: one}
	names := append(append([]string{}, one.GoFiles...), one.CgoFiles...)
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(one.Dir, name)
		}
		file, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		if err != nil && isOwn && whole {
			l.problems.add(err.Error())
		}
		if file != nil {
			loaded.files = append(loaded.files, file)
		}
	}
	if isOwn {
		loaded.info = &types.Info{
			Defs:      map[*ast.Ident]types.Object{},
			Uses:      map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{},
		}
	}
	config := types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return l.imported(one, path) }),
		IgnoreFuncBodies: !whole,
		FakeImportC:      true,
		Error: func(err error) {
			if isOwn && whole {
				l.problems.add(err.Error())
			}
		},
		Sizes: types.SizesFor("gc", "amd64"),
	}
	// What is wrong goes to config.Error; what could be checked is there all the same.
	loaded.types, _ = config.Check(one.path(), l.fset, loaded.files, loaded.info)
	if !isOwn {
		loaded.files = nil
	}
	return loaded
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func (l *loader) imported(by *listing, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if mapped, isMapped := by.ImportMap[path]; isMapped {
		path = mapped
	}
	if loaded := l.load(path, false); loaded != nil && loaded.types != nil && len(loaded.GoFiles)+len(loaded.CgoFiles) > 0 {
		return loaded.types, nil
	}
	l.problems.miss(path)
	return nil, fmt.Errorf("package %s is not there", path)
}

// What went wrong on the way: counted, and the first of it in words.
type problems struct {
	Errors  int      `json:"errors"`
	First   []string `json:"first"`
	missing map[string]bool
}

func (p *problems) add(text string) {
	p.Errors++
	if len(p.First) < 5 {
		p.First = append(p.First, strings.TrimSpace(text))
	}
}

func (p *problems) miss(path string) {
	if p.missing == nil {
		p.missing = map[string]bool{}
	}
	p.missing[path] = true
}

func sortedKeys[V any](table map[string]V) []string {
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
