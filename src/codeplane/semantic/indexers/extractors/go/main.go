// Writes what the names in the packages of a module mean as a SCIP index. It needs the standard library and the
// `go` command alone, and fetches nothing.
//
//	go run *.go -root DIR -module DIR -output FILE [-own MODULE,...] [-scope FILE]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

type extraction struct {
	root     string
	module   string
	own      []string        // modules of the repository
	scope    map[string]bool // files to say all of; nil: all of them
	written  map[string]bool
	out      *bufio.Writer
	problems problems
}

func main() {
	root := flag.String("root", ".", "the repository: paths of documents are relative to it")
	module := flag.String("module", ".", "the directory with go.mod or go.work")
	output := flag.String("output", "index.scip", "the file to write")
	own := flag.String("own", "", "modules of the repository, commas between them")
	scope := flag.String("scope", "", "a file with the files to say all of, one a line")
	flag.Parse()
	if err := run(*root, *module, *output, *own, *scope); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root, module, output, own, scope string) error {
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	e := &extraction{written: map[string]bool{}, out: bufio.NewWriter(file)}
	if e.root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	if e.module, err = filepath.EvalSymlinks(module); err != nil {
		return err
	}
	if own != "" {
		e.own = strings.Split(own, ",")
	}
	if scope != "" {
		if e.scope, err = lines(scope); err != nil {
			return err
		}
	}
	if err := writeMetadata(e.out, e.root, runtime.Version()); err != nil {
		return err
	}
	left, err := e.extract()
	if err != nil {
		return err
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	for index, text := range e.problems.First {
		e.problems.First[index] = strings.ReplaceAll(text, e.root+"/", "")
	}
	summary := map[string]any{
		"documents": len(e.written), "errors": e.problems.Errors, "first": e.problems.First,
		"missing": sortedKeys(e.problems.missing), "unbuilt": left,
	}
	return json.NewEncoder(os.Stderr).Encode(summary)
}

func lines(path string) (map[string]bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range strings.Split(string(data), "\n") {
		if name != "" {
			names[name] = true
		}
	}
	return names, nil
}

// Writes the documents of the usual build, then those of files that only other builds have. Gives the files
// that none of them has.
func (e *extraction) extract() ([]string, error) {
	excluded, err := e.build(configuration{}, append([]string{"./..."}, examples(e.module)...))
	if err != nil {
		return nil, err
	}
	for _, config := range otherConfigurations(excluded) {
		var patterns []string
		for _, name := range excluded {
			if !e.written[e.relative(name)] {
				patterns = append(patterns, filepath.Dir(name))
			}
		}
		if len(patterns) == 0 {
			break
		}
		if _, err := e.build(config, unique(patterns)); err != nil {
			e.problems.add(err.Error())
		}
	}
	left := []string{}
	for _, name := range excluded {
		if !e.written[e.relative(name)] {
			left = append(left, e.relative(name))
		}
	}
	sort.Strings(left)
	return left, nil
}

// Packages of a module that `./...` does not match: those below directories such as `_examples`.
func examples(module string) []string {
	found := map[string]bool{}
	_ = filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || path == module {
			return nil
		}
		if entry.IsDir() {
			_, problem := os.Stat(filepath.Join(path, "go.mod"))
			if problem == nil || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") {
				return filepath.SkipDir // another module, or no code of this one
			}
		} else if below, err := filepath.Rel(module, path); err == nil && strings.HasSuffix(name, ".go") && strings.Contains("/"+filepath.ToSlash(filepath.Dir(below)), "/_") {
			found["./"+filepath.ToSlash(filepath.Dir(below))] = true
		}
		return nil
	})
	return sortedKeys(found)
}

func (e *extraction) build(config configuration, patterns []string) ([]string, error) {
	l, err := newLoader(e.module, config, patterns, e.isOwn, &e.problems)
	if err != nil {
		return nil, err
	}
	s := newSymbols(l)
	var excluded []string
	var plain, tested []*listing
	hasVariant := map[string]bool{}
	for _, one := range l.order {
		if !e.isOwn(one) {
			continue
		}
		if one.ForTest == "" {
			plain = append(plain, one)
			for _, name := range one.IgnoredGoFiles {
				excluded = append(excluded, filepath.Join(one.Dir, name))
			}
		} else if one.path() == one.ForTest || one.path() == one.ForTest+"_test" {
			tested = append(tested, one)
			hasVariant[one.path()] = true
		}
	}
	found := relations{}
	var units []*unit
	for _, one := range plain {
		if loaded := l.load(one.ImportPath, false); loaded != nil {
			units = append(units, loaded)
		}
	}
	found.find(units, s)
	// A package that is compiled for its tests has its other files as well.
	for _, one := range tested {
		if err := e.write(l, s, one, found); err != nil {
			return nil, err
		}
	}
	for _, one := range plain {
		if !hasVariant[one.path()] {
			if err := e.write(l, s, one, found); err != nil {
				return nil, err
			}
		}
	}
	return unique(excluded), nil
}

func (e *extraction) write(l *loader, s *symbols, one *listing, found relations) error {
	isAsked := e.scope == nil
	for _, names := range [][]string{one.GoFiles, one.CgoFiles} {
		for _, name := range names {
			isAsked = isAsked || e.scope[e.relative(filepath.Join(one.Dir, name))]
		}
	}
	loaded := l.load(one.ImportPath, isAsked)
	if loaded == nil || loaded.info == nil {
		return nil
	}
	if one.ForTest != "" {
		found.find([]*unit{loaded}, s)
	}
	for _, file := range loaded.files {
		name := l.fset.PositionFor(file.Package, false).Filename
		path := e.relative(name)
		if e.written[path] || path == "" {
			continue
		}
		e.written[path] = true
		doc := &document{path: path, relations: found[name]}
		e.occurrences(doc, l, s, loaded, file, e.scope == nil || e.scope[path])
		if err := writeDocument(e.out, doc); err != nil {
			return err
		}
	}
	loaded.files, loaded.info = nil, nil
	return nil
}

func (e *extraction) occurrences(doc *document, l *loader, s *symbols, loaded *unit, file *ast.File, whole bool) {
	locals := map[place]string{}
	home := l.fset.PositionFor(file.Package, false).Filename
	local := func(pos token.Pos) string {
		at := s.place(pos)
		if at.file != home {
			return ""
		}
		if locals[at] == "" {
			locals[at] = "local " + strconv.Itoa(len(locals))
		}
		return locals[at]
	}
	add := func(name *ast.Ident, symbol string, roles uint64) {
		isLocal := strings.HasPrefix(symbol, "local ")
		if symbol == "" || name.Name == "_" || !whole && (roles == 0 || isLocal) {
			return
		}
		position := l.fset.PositionFor(name.Pos(), false)
		doc.occurrences = append(doc.occurrences, occurrence{position.Line - 1, position.Column - 1, len(name.Name), symbol, roles})
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if symbol := e.missing(loaded.info, node); symbol != "" {
				add(node.Sel, symbol, 0)
			}
		case *ast.Ident:
			if object := loaded.info.Uses[node]; object != nil {
				if _, isPackage := object.(*types.PkgName); !isPackage {
					add(node, orLocal(s.of(object), object, local), 0)
				}
			} else if object, isDefined := loaded.info.Defs[node]; object != nil {
				if _, isPackage := object.(*types.PkgName); !isPackage {
					add(node, orLocal(s.of(object), object, local), definition)
				}
			} else if isDefined && node != file.Name {
				add(node, local(node.Pos()), definition) // x in `switch x := y.(type)`
			}
		}
		return true
	})
}

func orLocal(symbol string, object types.Object, local func(token.Pos) string) string {
	if variable, isVariable := object.(*types.Var); isVariable && variable.Embedded() || symbol != "" || !object.Pos().IsValid() {
		return symbol
	}
	return local(object.Pos())
}

// The symbol of a name behind a package that is not there, and that is not one of the repository.
func (e *extraction) missing(info *types.Info, node *ast.SelectorExpr) string {
	base, isName := node.X.(*ast.Ident)
	if !isName || info.Uses[node.Sel] != nil {
		return ""
	}
	name, isPackage := info.Uses[base].(*types.PkgName)
	if !isPackage || name.Imported().Complete() || name.Imported().Path() == "C" {
		return ""
	}
	path := name.Imported().Path()
	for _, module := range e.own {
		if path == module || strings.HasPrefix(path, module+"/") {
			return ""
		}
	}
	return packagePrefix(path, path) + escaped(node.Sel.Name) + "."
}

// Whether a package is one of the repository, by its place.
func (e *extraction) isOwn(one *listing) bool {
	if one.Standard || one.Dir == "" {
		return false
	}
	path := e.relative(one.Dir)
	return path != "" && !strings.Contains("/"+path+"/", "/vendor/")
}

// A path relative to the repository; "" for one outside.
func (e *extraction) relative(path string) string {
	below, err := filepath.Rel(e.root, path)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return ""
	}
	return filepath.ToSlash(below)
}

func unique(names []string) []string {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return sortedKeys(set)
}
