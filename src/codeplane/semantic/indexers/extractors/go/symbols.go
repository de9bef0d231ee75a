package main

import (
	"go/token"
	"go/types"
	"strings"
)

// Where something is defined. Packages are read more than once, for tests and instances of generic types: the
// place stays the same.
type place struct {
	file   string
	offset int
}

// The symbols of objects; "" for what only its own file can name.
type symbols struct {
	loader  *loader
	members map[place]string // fields and methods of types and variables that are declared in a package
	walked  map[*types.Package]bool
}

func newSymbols(l *loader) *symbols {
	return &symbols{loader: l, members: map[place]string{}, walked: map[*types.Package]bool{}}
}

func (s *symbols) place(pos token.Pos) place {
	position := s.loader.fset.PositionFor(pos, false)
	return place{position.Filename, position.Offset}
}

func (s *symbols) of(object types.Object) string {
	if object.Pkg() == nil {
		return builtin(object)
	}
	if object.Pkg() == types.Unsafe {
		return s.prefix(object.Pkg()) + descriptor(object)
	}
	s.walk(object.Pkg())
	if variable, isVariable := object.(*types.Var); isVariable && variable.Embedded() {
		if named := embeddedType(variable); named != nil {
			return s.of(named)
		}
	}
	return s.members[s.place(object.Pos())]
}

// The type that gives an embedded field its name: the field has no name of its own.
func embeddedType(field *types.Var) types.Object {
	if object := field.Pkg().Scope().Lookup(field.Name()); object != nil {
		if name, isType := object.(*types.TypeName); isType && name.IsAlias() {
			return name
		}
	}
	kind := field.Type()
	if pointer, isPointer := kind.(*types.Pointer); isPointer {
		kind = pointer.Elem()
	}
	switch kind := kind.(type) {
	case interface{ Obj() *types.TypeName }:
		// Before Go 1.23 an alias of another package is not seen here.
		if kind.Obj().Name() == field.Name() {
			return kind.Obj()
		}
	case *types.Basic:
		return types.Universe.Lookup(kind.Name())
	}
	return nil
}

func (s *symbols) prefix(pkg *types.Package) string {
	module := s.loader.modules[pkg.Path()]
	if module == "" {
		module = pkg.Path()
	}
	return packagePrefix(module, pkg.Path())
}

func packagePrefix(module, path string) string {
	return "codeplane-go gomod " + strings.ReplaceAll(module, " ", "  ") + " . " + escaped(path) + "/"
}

// Gives every member of a package its symbol, by its place.
func (s *symbols) walk(pkg *types.Package) {
	if s.walked[pkg] {
		return
	}
	s.walked[pkg] = true
	prefix := s.prefix(pkg)
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		symbol := prefix + descriptor(object)
		s.put(object, symbol)
		seen := map[types.Type]bool{}
		named, isNamed := object.Type().(*types.Named)
		if name, isType := object.(*types.TypeName); isType && isNamed && !name.IsAlias() {
			seen[named] = true
			for index := 0; index < named.NumMethods(); index++ {
				method := named.Method(index)
				s.put(method, symbol+descriptor(method))
				s.walkType(method.Type(), symbol+descriptor(method), seen)
			}
			s.walkType(named.Underlying(), symbol, seen)
		} else {
			s.walkType(object.Type(), symbol, seen)
		}
	}
}

func (s *symbols) put(object types.Object, symbol string) {
	if at := s.place(object.Pos()); object.Name() != "_" && s.members[at] == "" {
		s.members[at] = symbol
	}
}

// Members of types that have no name: those of the type, variable or function that they are written in.
func (s *symbols) walkType(kind types.Type, owner string, seen map[types.Type]bool) {
	if seen[kind] {
		return
	}
	seen[kind] = true
	switch kind := kind.(type) {
	case *types.Struct:
		for index := 0; index < kind.NumFields(); index++ {
			if field := kind.Field(index); !field.Embedded() {
				s.put(field, owner+descriptor(field))
				s.walkType(field.Type(), owner+descriptor(field), seen)
			}
		}
	case *types.Interface:
		for index := 0; index < kind.NumExplicitMethods(); index++ {
			method := kind.ExplicitMethod(index)
			s.put(method, owner+descriptor(method))
			s.walkType(method.Type(), owner+descriptor(method), seen)
		}
	case *types.Signature:
		s.walkType(kind.Params(), owner, seen)
		s.walkType(kind.Results(), owner, seen)
	case *types.Tuple:
		for index := 0; index < kind.Len(); index++ {
			s.walkType(kind.At(index).Type(), owner, seen)
		}
	case *types.Map:
		s.walkType(kind.Key(), owner, seen)
		s.walkType(kind.Elem(), owner, seen)
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		s.walkType(kind.Elem(), owner, seen)
	}
}

func builtin(object types.Object) string {
	prefix := packagePrefix("std", "builtin")
	if function, isFunction := object.(*types.Func); isFunction {
		if object.Name() == "Error" {
			return prefix + "error#" + descriptor(function)
		}
	}
	return prefix + descriptor(object)
}

func descriptor(object types.Object) string {
	name := escaped(object.Name())
	switch object.(type) {
	case *types.TypeName:
		return name + "#"
	case *types.Func, *types.Builtin:
		return name + "()."
	}
	return name + "."
}

func escaped(name string) string {
	for _, letter := range name {
		isPlain := letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9'
		if !isPlain && !strings.ContainsRune("_+-$", letter) {
			return "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
	}
	return name
}
