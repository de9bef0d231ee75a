package main

import (
	"bufio"
	"go/build"
	"go/build/constraint"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// Builds besides the usual one that are looked at.
const mostBuilds = 6

var systems = []string{"windows", "darwin", "linux", "freebsd", "js", "wasip1", "android", "ios", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix", "plan9"}
var architectures = []string{"amd64", "arm64", "386", "arm", "wasm", "riscv64", "ppc64", "ppc64le", "s390x", "loong64", "mips", "mipsle", "mips64", "mips64le"}

// The builds that have files which the usual one has not, those with most of them first.
func otherConfigurations(files []string) []configuration {
	counts := map[configuration]int{}
	for _, file := range files {
		if config, isBuilt := configurationOf(file); isBuilt {
			counts[config]++
		}
	}
	configs := make([]configuration, 0, len(counts))
	for config := range counts {
		configs = append(configs, config)
	}
	sort.Slice(configs, func(i, j int) bool {
		a, b := configs[i], configs[j]
		if counts[a] != counts[b] {
			return counts[a] > counts[b]
		}
		return a.goos+" "+a.goarch+" "+a.tags < b.goos+" "+b.goarch+" "+b.tags
	})
	if len(configs) > mostBuilds {
		configs = configs[:mostBuilds]
	}
	return configs
}

// A build that has a file: its system and architecture by the file's name, the rest by its constraint.
func configurationOf(file string) (configuration, bool) {
	goos, goarch := suffixes(file)
	expression := constraintOf(file)
	tags := map[string]bool{}
	if expression != nil {
		expression.Eval(func(tag string) bool {
			if !isKnown(tag) {
				tags[tag] = true
			}
			return false
		})
	}
	// Such files are programs for people, in packages of their own.
	if tags["ignore"] {
		return configuration{}, false
	}
	all := strings.Join(sortedKeys(tags), ",")
	for _, system := range candidates(goos, runtime.GOOS, systems) {
		for _, architecture := range candidates(goarch, runtime.GOARCH, architectures) {
			for _, chosen := range []string{"", all} {
				if expression == nil || expression.Eval(func(tag string) bool { return holds(tag, system, architecture, chosen) }) {
					if isPair(system, architecture) {
						return configuration{system, architecture, chosen}, true
					}
				}
			}
		}
	}
	return configuration{}, false
}

func candidates(given, usual string, others []string) []string {
	if given != "" {
		return []string{given}
	}
	return append([]string{usual}, others...)
}

func isPair(system, architecture string) bool {
	return (system == "js" || system == "wasip1") == (architecture == "wasm")
}

func holds(tag, system, architecture, chosen string) bool {
	switch {
	case tag == system, tag == architecture, tag == "gc", tag == "cgo":
		return true
	case tag == "unix":
		return system != "windows" && system != "plan9" && system != "js" && system != "wasip1"
	case strings.HasPrefix(tag, "go1."):
		return contains(build.Default.ReleaseTags, tag)
	}
	return chosen != "" && contains(strings.Split(chosen, ","), tag)
}

func isKnown(tag string) bool {
	return contains(systems, tag) || contains(architectures, tag) || strings.HasPrefix(tag, "go1.") ||
		tag == "unix" || tag == "cgo" || tag == "gc" || tag == "gccgo"
}

func contains(names []string, name string) bool {
	for _, one := range names {
		if one == name {
			return true
		}
	}
	return false
}

func suffixes(file string) (goos, goarch string) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".go"), "_test"), "_")[1:]
	for _, part := range parts {
		if contains(systems, part) {
			goos = part
		}
		if contains(architectures, part) {
			goarch = part
		}
	}
	return goos, goarch
}

func constraintOf(path string) constraint.Expr {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		line := strings.TrimSpace(scanner.Text())
		if constraint.IsGoBuild(line) {
			if expression, err := constraint.Parse(line); err == nil {
				return expression
			}
		}
		if strings.HasPrefix(line, "package ") {
			break
		}
	}
	return nil
}
