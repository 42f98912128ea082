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
		if err := ofInput(place, result.GetStatus()); err != nil {
			return err
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
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(result.Data[4*i:]))
	}
	rows := make([][]float32, len(numbers)/width)
	for i := range rows {
		rows[i] = numbers[i*width : (i+1)*width : (i+1)*width]
	}
	return rows
}
