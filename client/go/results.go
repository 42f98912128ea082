package attend

import (
	"encoding/binary"
	"math"

	"attend.internal/attend/attendv1"
)

// withStatus is the result of one input.
type withStatus interface{ GetStatus() *attendv1.Status }

// firstFailed is the error of the first input that failed; nil if none did.
func firstFailed[Result withStatus](results []Result) error {
	for place, result := range results {
		if ranked, ok := any(result).(*attendv1.RerankResult); ok {
			place = int(ranked.Index) // they are ordered by their scores
		}
		if e := ofInput(place, result.GetStatus()); e != nil {
			return e
		}
	}
	return nil
}

// vectors has the vectors of a result: [vectors][width].
func vectors(result *attendv1.EmbedResult) [][]float32 {
	width := int(result.Width)
	if width == 0 {
		return nil
	}
	numbers := make([]float32, len(result.Data)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(
			binary.LittleEndian.Uint32(result.Data[4*i:]))
	}
	rows := make([][]float32, len(numbers)/width)
	for i := range rows {
		rows[i] = numbers[i*width : (i+1)*width : (i+1)*width]
	}
	return rows
}

// generated is the text of a chunk, if it is of the first choice.
func generated(chunk *attendv1.GenerateChunk) (string, *Error) {
	if e := ofInput(int(chunk.Input), chunk.Status); e != nil {
		return "", e
	}
	if chunk.Choice != 0 {
		return "", nil
	}
	return chunk.Text, nil
}

// translated is the text of a chunk.
func translated(chunk *attendv1.TranslateChunk) (string, *Error) {
	if e := ofInput(int(chunk.Document), chunk.Status); e != nil {
		return "", e
	}
	return chunk.Text, nil
}
