package main

import (
	"go/token"
	"go/types"
)

// What implements what, by the file in which the implementation stands.
type relations map[string]map[string][]string

func (r relations) add(file, symbol, target string) {
	if symbol == "" || target == "" || symbol == target {
		return
	}
	if r[file] == nil {
		r[file] = map[string][]string{}
	}
	for _, one := range r[file][symbol] {
		if one == target {
			return
		}
	}
	r[file][symbol] = append(r[file][symbol], target)
}

// Adds the types of some packages with the interfaces of these packages and of those that they import.
func (r relations) find(units []*unit, s *symbols) {
	var named []*types.Named
	interfaces := []*types.Named{types.Universe.Lookup("error").Type().(*types.Named)}
	visited := map[*types.Package]bool{}
	visit := func(pkg *types.Package, isOwn bool) {
		if pkg == nil || visited[pkg] {
			return
		}
		visited[pkg] = true
		for _, name := range pkg.Scope().Names() {
			object, isType := pkg.Scope().Lookup(name).(*types.TypeName)
			if !isType || object.IsAlias() || !isOwn && !token.IsExported(name) {
				continue
			}
			kind, isNamed := object.Type().(*types.Named)
			if !isNamed {
				continue
			}
			if isOwn {
				named = append(named, kind)
			}
			// A generic interface is implemented by way of its instances alone.
			if under, isInterface := kind.Underlying().(*types.Interface); isInterface && under.NumMethods() > 0 && under.IsMethodSet() && kind.TypeParams().Len() == 0 {
				interfaces = append(interfaces, kind)
			}
		}
	}
	for _, one := range units {
		visit(one.types, true)
	}
	for _, one := range units {
		if one.types != nil {
			for _, imported := range one.types.Imports() {
				visit(imported, false)
			}
		}
	}
	for _, kind := range named {
		r.implement(kind, interfaces, s)
	}
}

func (r relations) implement(kind *types.Named, interfaces []*types.Named, s *symbols) {
	var implementer types.Type = kind
	if !types.IsInterface(kind) {
		implementer = types.NewPointer(kind)
	}
	methods := types.NewMethodSet(implementer)
	if methods.Len() == 0 {
		return
	}
	for _, target := range interfaces {
		under := target.Underlying().(*types.Interface)
		first := under.Method(0)
		if target == kind || methods.Lookup(first.Pkg(), first.Name()) == nil || !types.Implements(implementer, under) {
			continue
		}
		r.add(s.place(kind.Obj().Pos()).file, s.of(kind.Obj()), s.of(target.Obj()))
		for index := 0; index < under.NumMethods(); index++ {
			method := under.Method(index)
			if selection := methods.Lookup(method.Pkg(), method.Name()); selection != nil {
				object := selection.Obj()
				if object.Pkg() != nil {
					r.add(s.place(object.Pos()).file, s.of(object), s.of(method))
				}
			}
		}
	}
}
