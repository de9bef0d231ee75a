package main

import (
	"encoding/binary"
	"io"
)

// The wire format of protocol buffers, as far as SCIP needs it.

type message []byte

func (m *message) varint(field int, value uint64) {
	if value != 0 {
		*m = binary.AppendUvarint(*m, uint64(field)<<3)
		*m = binary.AppendUvarint(*m, value)
	}
}

func (m *message) bytes(field int, value []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(value)))
	*m = append(*m, value...)
}

func (m *message) text(field int, value string) {
	if value != "" {
		m.bytes(field, []byte(value))
	}
}

const (
	definition = 1
	utf8       = 1
)

type occurrence struct {
	line, column, length int
	symbol               string
	roles                uint64
}

type document struct {
	path        string
	occurrences []occurrence
	// What each symbol implements.
	relations map[string][]string
}

func writeMetadata(out io.Writer, root, version string) error {
	var tool, metadata, index message
	tool.text(1, "codeplane-go")
	tool.text(2, version)
	metadata.bytes(2, tool)
	metadata.text(3, "file://"+root)
	metadata.varint(4, 1)
	index.bytes(1, metadata)
	_, err := out.Write(index)
	return err
}

func writeDocument(out io.Writer, doc *document) error {
	var body, index message
	body.text(1, doc.path)
	for _, one := range doc.occurrences {
		var packed, item message
		for _, number := range []int{one.line, one.column, one.column + one.length} {
			packed = binary.AppendUvarint(packed, uint64(number))
		}
		item.bytes(1, packed)
		item.text(2, one.symbol)
		item.varint(3, one.roles)
		body.bytes(2, item)
	}
	for _, symbol := range sortedKeys(doc.relations) {
		var item message
		item.text(1, symbol)
		for _, target := range doc.relations[symbol] {
			var relation message
			relation.text(1, target)
			relation.varint(3, 1)
			item.bytes(4, relation)
		}
		body.bytes(3, item)
	}
	body.text(4, "go")
	body.varint(6, utf8)
	index.bytes(2, body)
	_, err := out.Write(index)
	return err
}
