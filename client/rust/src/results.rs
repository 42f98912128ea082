use crate::v1::{
    AnswerResult, ClassifyResult, Detokenization, EmbedResult, FillMaskResult, GenerateChunk,
    GenerateResult, RerankResult, ScoreResult, Status, Tokenization, TranslateChunk, Translation,
};
use crate::{Error, Part};

/// What an answer becomes.
pub trait Outcome {
    /// What `.await` returns.
    type Value;

    /// The value, or the first error.
    fn value(self) -> Result<Self::Value, Error>;
}

/// Something of which there is one.
#[derive(Debug)]
pub struct Single<T>(pub(crate) T);

impl<T> Outcome for Single<T> {
    type Value = T;

    fn value(self) -> Result<T, Error> {
        Ok(self.0)
    }
}

/// A result or an error of each input.
#[derive(Debug)]
pub struct Each<T>(pub(crate) Vec<Result<T, Error>>);

impl<T> Outcome for Each<T> {
    type Value = Vec<T>;

    fn value(self) -> Result<Vec<T>, Error> {
        self.0.into_iter().collect()
    }
}

/// The result of one input.
pub(crate) trait WithStatus {
    fn status(&self) -> Option<&Status>;

    /// Of the result that stands there.
    fn input(&self, place: usize) -> usize {
        place
    }
}

macro_rules! with_status {
    ($($result:ty),*) => {
        $(impl WithStatus for $result {
            fn status(&self) -> Option<&Status> {
                self.status.as_ref()
            }
        })*
    };
}

with_status!(
    AnswerResult,
    ClassifyResult,
    Detokenization,
    EmbedResult,
    FillMaskResult,
    GenerateResult,
    ScoreResult,
    Tokenization,
    Translation
);

impl WithStatus for RerankResult {
    fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }

    /// They are ordered by their scores.
    fn input(&self, _: usize) -> usize {
        self.index as usize
    }
}

/// What `read` makes of each result.
pub(crate) fn each<R: WithStatus, T>(results: Vec<R>, read: fn(R) -> T) -> Each<T> {
    let read_one =
        |(place, result): (usize, R)| match Error::of_input(result.status(), result.input(place)) {
            Some(error) => Err(error),
            None => Ok(read(result)),
        };
    Each(results.into_iter().enumerate().map(read_one).collect())
}

/// The vectors of a result: [vectors][width].
pub(crate) fn vectors(result: EmbedResult) -> Vec<Vec<f32>> {
    let numbers: Vec<f32> = result
        .data
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    match usize::try_from(result.width) {
        Ok(width) if width > 0 => numbers.chunks_exact(width).map(<[f32]>::to_vec).collect(),
        _ => Vec::new(),
    }
}

/// The vector of a result; empty if the server sent none.
pub(crate) fn vector(result: EmbedResult) -> Vec<f32> {
    vectors(result).into_iter().next().unwrap_or_default()
}

/// The text of a chunk, if it is of the first choice.
pub(crate) fn generated(chunk: GenerateChunk) -> Part {
    let failed = Error::of_input(chunk.status.as_ref(), chunk.input as usize);
    let text = if chunk.choice == 0 { chunk.text } else { String::new() };
    Part(failed.map_or(Ok(text), Err))
}

/// The text of a chunk.
pub(crate) fn translated(chunk: TranslateChunk) -> Part {
    let failed = Error::of_input(chunk.status.as_ref(), chunk.document as usize);
    Part(failed.map_or(Ok(chunk.text), Err))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(width: i32, bytes: usize) -> EmbedResult {
        let numbers = [1.5f32, -2.0, 0.25];
        let data: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        EmbedResult { width, data: data[..bytes].to_vec().into(), ..EmbedResult::default() }
    }

    #[test]
    fn vectors_may_be_anything() {
        assert_eq!(vectors(embedding(1, 12)), [[1.5], [-2.0], [0.25]]);
        assert_eq!(vectors(embedding(2, 12)), [[1.5, -2.0]]);
        assert_eq!(vectors(embedding(2, 7)), Vec::<Vec<f32>>::new());
        for width in [0, -1, i32::MAX] {
            assert_eq!(vector(embedding(width, 12)), Vec::<f32>::new());
        }
    }

    #[test]
    fn one_input_fails() {
        let bad = Status { code: 3, message: "a bad text".into() };
        let result = |index, status| RerankResult { index, status, ..RerankResult::default() };
        let results = vec![result(2, None), result(1, Some(bad))];
        let found = each(results, |result| result.index);
        assert_eq!(found.0[0], Ok(2));
        let error = found.value().unwrap_err();
        assert_eq!(error.to_string(), "InvalidArgument: input 1: a bad text");
        assert_eq!(error.input(), Some(1));
    }
}
