package attend

import (
	"context"
	"iter"

	"attend.internal/attend/attendv1"
)

// Generate continues texts, answers chats, or translates sentences.
func (c *Client) Generate(ctx context.Context, inputs []*attendv1.Input,
	options ...func(*attendv1.GenerateRequest)) ([]*attendv1.GenerateResult, error) {
	return results(ctx, c, c.stub.Generate, &attendv1.GenerateRequest{
		Model: c.model, Inputs: inputs}, options, (*attendv1.GenerateResponse).GetResults)
}

// Stream yields the text that Generate returns in parts, as they are computed.
// If it fails, the last thing it yields is an error. Leaving the loop cancels
// the call.
func (c *Client) Stream(ctx context.Context, input *attendv1.Input,
	options ...func(*attendv1.GenerateRequest)) iter.Seq2[string, error] {
	request := changed(&attendv1.GenerateRequest{Model: c.model,
		Inputs: []*attendv1.Input{input}}, options)
	return stream(ctx, c, c.stub.GenerateStream, request, generated)
}

// Translate translates documents of any number of sentences: text, HTML, XML, Markdown.
func (c *Client) Translate(ctx context.Context, documents []string,
	options ...func(*attendv1.TranslateRequest)) ([]*attendv1.Translation, error) {
	return results(ctx, c, c.stub.Translate, &attendv1.TranslateRequest{
		Model: c.model, Documents: documents}, options, (*attendv1.TranslateResponse).GetResults)
}

// TranslateStream yields a document's translation, sentence by sentence; see
// Stream.
func (c *Client) TranslateStream(ctx context.Context, document string,
	options ...func(*attendv1.TranslateRequest)) iter.Seq2[string, error] {
	request := changed(&attendv1.TranslateRequest{Model: c.model,
		Documents: []string{document}}, options)
	return stream(ctx, c, c.stub.TranslateStream, request, translated)
}

// Score computes the log-probability of each pair's target after its source.
func (c *Client) Score(ctx context.Context, pairs []*attendv1.ScorePair,
	options ...func(*attendv1.ScoreRequest)) ([]*attendv1.ScoreResult, error) {
	return results(ctx, c, c.stub.Score, &attendv1.ScoreRequest{
		Model: c.model, Pairs: pairs}, options, (*attendv1.ScoreResponse).GetResults)
}

// Embed computes a vector of each input: [inputs][width].
func (c *Client) Embed(ctx context.Context, inputs []*attendv1.Input,
	options ...func(*attendv1.EmbedRequest)) ([][]float32, error) {
	found, err := c.embed(ctx, inputs, false, options)
	rows := make([][]float32, len(found))
	for i, vectors := range found {
		if len(vectors) > 0 {
			rows[i] = vectors[0]
		}
	}
	return rows, err
}

// EmbedTokens computes the vectors of each input's tokens:
// [inputs][tokens][width].
func (c *Client) EmbedTokens(ctx context.Context, inputs []*attendv1.Input,
	options ...func(*attendv1.EmbedRequest)) ([][][]float32, error) {
	return c.embed(ctx, inputs, true, options)
}

func (c *Client) embed(ctx context.Context, inputs []*attendv1.Input,
	perToken bool, options []func(*attendv1.EmbedRequest)) ([][][]float32, error) {
	request := changed(&attendv1.EmbedRequest{Model: c.model, Inputs: inputs},
		options)
	request.PerToken = perToken
	request.Encoding = attendv1.EmbeddingEncoding_EMBEDDING_FLOAT32
	found, err := results(ctx, c, c.stub.Embed, request, nil, (*attendv1.EmbedResponse).GetResults)
	rows := make([][][]float32, len(found))
	for i, result := range found {
		rows[i] = vectors(result)
	}
	return rows, err
}

// Classify labels texts, pairs of texts, or the tokens of texts.
func (c *Client) Classify(ctx context.Context, inputs []*attendv1.Input,
	options ...func(*attendv1.ClassifyRequest)) ([]*attendv1.ClassifyResult, error) {
	return results(ctx, c, c.stub.Classify, &attendv1.ClassifyRequest{
		Model: c.model, Inputs: inputs}, options, (*attendv1.ClassifyResponse).GetResults)
}

// FillMask finds tokens for the masks in texts.
func (c *Client) FillMask(ctx context.Context, inputs []*attendv1.Input,
	options ...func(*attendv1.FillMaskRequest)) ([]*attendv1.FillMaskResult, error) {
	return results(ctx, c, c.stub.FillMask, &attendv1.FillMaskRequest{
		Model: c.model, Inputs: inputs}, options, (*attendv1.FillMaskResponse).GetResults)
}

// Answer finds the answers to questions in texts.
func (c *Client) Answer(ctx context.Context, questions []*attendv1.Question,
	options ...func(*attendv1.AnswerRequest)) ([]*attendv1.AnswerResult, error) {
	return results(ctx, c, c.stub.Answer, &attendv1.AnswerRequest{
		Model: c.model, Questions: questions}, options, (*attendv1.AnswerResponse).GetResults)
}

// Rerank returns the documents' indices and scores, those first that answer the
// query best, and those last that failed.
func (c *Client) Rerank(ctx context.Context, query string, documents []string,
	options ...func(*attendv1.RerankRequest)) ([]*attendv1.RerankResult, error) {
	return results(ctx, c, c.stub.Rerank, &attendv1.RerankRequest{
		Model: c.model, Query: query, Documents: documents}, options,
		(*attendv1.RerankResponse).GetResults)
}

// Tokenize returns the token ids of texts, then of the request's Chats.
func (c *Client) Tokenize(ctx context.Context, texts []string,
	options ...func(*attendv1.TokenizeRequest)) ([]*attendv1.Tokenization, error) {
	return results(ctx, c, c.stub.Tokenize, &attendv1.TokenizeRequest{
		Model: c.model, Texts: texts}, options, (*attendv1.TokenizeResponse).GetResults)
}

// Detokenize returns the texts of lists of token ids.
func (c *Client) Detokenize(ctx context.Context, sequences [][]int32,
	options ...func(*attendv1.DetokenizeRequest)) ([]string, error) {
	request := &attendv1.DetokenizeRequest{Model: c.model}
	for _, ids := range sequences {
		request.Sequences = append(request.Sequences, &attendv1.Tokens{Ids: ids})
	}
	found, err := results(ctx, c, c.stub.Detokenize, request, options,
		(*attendv1.DetokenizeResponse).GetResults)
	texts := make([]string, len(found))
	for i, result := range found {
		texts[i] = result.Text
	}
	return texts, err
}

// Models lists the models of the server, the default model first.
func (c *Client) Models(ctx context.Context) ([]*attendv1.Model, error) {
	answer, err := unary(ctx, c, c.stub.ListModels, &attendv1.ListModelsRequest{})
	return answer.GetModels(), err
}

// Model describes a model of the server; without a name its default model.
func (c *Client) Model(ctx context.Context, name string) (*attendv1.Model, error) {
	return unary(ctx, c, c.stub.GetModel, &attendv1.GetModelRequest{Name: name})
}
