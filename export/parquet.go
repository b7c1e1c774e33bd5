package export

import (
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowGroup is how many rows a group of a Parquet file has: as many are in memory.
const rowGroup = 100_000

// parquetEncoder writes Parquet. What other formats have in their first and last records is in
// the metadata of the file, which stand at its end: a file that was cut cannot be opened.
type parquetEncoder struct {
	*output
	columns []column
	writer  *parquet.GenericWriter[any]
	rows    []parquet.Row
	values  []parquet.Value
}

// batch is how many rows are handed over together.
const batch = 256

func newParquet(out *output, columns []column) *parquetEncoder {
	e := &parquetEncoder{output: out, columns: columns}
	e.writer = parquet.NewGenericWriter[any](out, schemaOf(columns),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.CreatedBy("simgraph", "", ""))
	return e
}

// inOrder is a group whose fields are in the order of the columns, not in that of their names.
type inOrder struct {
	parquet.Group
	columns []column
}

// Fields implements parquet.Node.
func (g inOrder) Fields() []parquet.Field {
	place := func(of parquet.Field) int {
		return slices.IndexFunc(g.columns, func(c column) bool { return c.name == of.Name() })
	}
	return slices.SortedFunc(slices.Values(g.Group.Fields()), func(a, b parquet.Field) int { return place(a) - place(b) })
}

func schemaOf(columns []column) *parquet.Schema {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = nodeOf(c.kind)
	}
	return parquet.NewSchema("simgraph", inOrder{group, columns})
}

func nodeOf(of kind) parquet.Node {
	switch of {
	case integer:
		return parquet.Optional(parquet.Int(64))
	case boolean:
		return parquet.Optional(parquet.Leaf(parquet.BooleanType))
	case moment:
		return parquet.Optional(parquet.Timestamp(parquet.Microsecond))
	case texts:
		return parquet.Repeated(parquet.String())
	}
	return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
}

func (e *parquetEncoder) begin(of header) error {
	until := ""
	if of.CompleteUntil != nil {
		until = of.CompleteUntil.UTC().Format(time.RFC3339)
	}
	e.note("export", of.Export)
	e.note("company", of.Company)
	e.note("name", of.Name)
	e.note("timeZone", of.TimeZone)
	e.note("madeAt", of.MadeAt.UTC().Format(time.RFC3339))
	e.note("completeUntil", until)
	return nil
}

func (e *parquetEncoder) note(name, value string) {
	e.writer.SetKeyValueMetadata("simgraph."+name, value)
}

func (e *parquetEncoder) row(cells []cell) error {
	begin := len(e.values)
	for i, c := range e.columns {
		e.value(c.kind, i, &cells[i])
	}
	e.rows = append(e.rows, e.values[begin:len(e.values):len(e.values)])
	if len(e.rows) < batch {
		return nil
	}
	return e.write()
}

func (e *parquetEncoder) value(of kind, place int, c *cell) {
	var value parquet.Value
	switch {
	case of == texts:
		for i, text := range c.list {
			e.values = append(e.values, parquet.ByteArrayValue([]byte(text)).Level(min(i, 1), 1, place))
		}
		if len(c.list) == 0 {
			e.values = append(e.values, parquet.NullValue().Level(0, 0, place))
		}
		return
	case c.isNull:
		e.values = append(e.values, parquet.NullValue().Level(0, 0, place))
		return
	case of == integer, of == moment:
		value = parquet.Int64Value(c.number)
	case of == boolean:
		value = parquet.BooleanValue(c.number == 1)
	default:
		value = parquet.ByteArrayValue([]byte(c.text))
	}
	e.values = append(e.values, value.Level(0, 1, place))
}

func (e *parquetEncoder) write() error {
	_, err := e.writer.WriteRows(e.rows)
	clear(e.values)
	e.rows, e.values = e.rows[:0], e.values[:0]
	return err
}

func (e *parquetEncoder) sum() (bytes int64, checksum string, err error) {
	if err = e.write(); err == nil {
		err = e.writer.Flush() // the last group
	}
	if err != nil {
		return 0, "", err
	}
	return e.output.sum()
}

func (e *parquetEncoder) end(s Summary) error {
	e.note("rows", strconv.FormatInt(s.Rows, 10))
	e.note("bytes", strconv.FormatInt(s.Bytes, 10))
	e.note("sha256", s.SHA256)
	e.note("after", s.After)
	return e.writer.Close()
}
