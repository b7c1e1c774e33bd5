package rowtap

import "encoding/binary"

// Row is a row as the server sent it: its columns one after the other, each in
// the format that was asked for.
type Row struct{ Rest []byte }

const (
	countSize = 2 // what says how many columns there are
	sizeSize  = 4 // what says how many bytes a column has, or that it is NULL
)

// rowOf refuses a row that has other columns, or whose sizes are not those.
func rowOf(message []byte, columns int) (Row, error) {
	if len(message) < countSize || int(binary.BigEndian.Uint16(message)) != columns {
		return Row{}, errMalformed
	}
	row := Row{message[countSize:]}
	rest := row.Rest
	for range columns {
		if len(rest) < sizeSize {
			return Row{}, errMalformed
		}
		size := max(0, int(int32(binary.BigEndian.Uint32(rest))))
		if rest = rest[sizeSize:]; len(rest) < size {
			return Row{}, errMalformed
		}
		rest = rest[size:]
	}
	if len(rest) > 0 {
		return Row{}, errMalformed
	}
	return row, nil
}

// Next cuts off the next column, of as many as the query has; NULL is nil.
func (r *Row) Next() []byte {
	size := int(int32(binary.BigEndian.Uint32(r.Rest)))
	r.Rest = r.Rest[sizeSize:]
	if size < 0 {
		return nil
	}
	value := r.Rest[:size:size]
	r.Rest = r.Rest[size:]
	return value
}
