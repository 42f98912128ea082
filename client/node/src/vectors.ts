import type {EmbedResult} from './generated/attend/v1/EmbedResult.js';

/** The vectors of a result. They share memory. */
export function rowsOf({data, width}: EmbedResult): Float32Array[] {
  if (width === 0) return [];
  const {buffer, byteOffset, byteLength} = data as Uint8Array;
  // A copy, which begins where numbers may.
  const numbers = new Float32Array(
      buffer.slice(byteOffset, byteOffset + byteLength));
  return Array.from({length: numbers.length / width}, (_, row) =>
    numbers.subarray(row * width, (row + 1) * width));
}
