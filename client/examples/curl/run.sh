#!/bin/sh
# Calls every method. Needs curl, and jq to take answers apart.
#
#   ATTEND_URL=http://localhost:8080 ./run.sh
set -eu
url=${ATTEND_URL-http://localhost:8080}/attend.v1.Attend
json='Content-Type: application/json'

# Sets `model` to the first model that has a task, as JSON.
model_with() {
  model=$(curl -s "$url/ListModels" -H "$json" -d '{}' | jq --arg task "$1" \
    'first(.models[]? | select(.tasks // [] | index($task)))')
  if [ -z "$model" ]; then
    echo "skipped: no model here has $1"
    return 1
  fi
}

# == ListModels
curl -s "$url/ListModels" -H "$json" -d '{}' |
  jq -r '"ListModels: \([.models[].name] | join(" "))"'

# == GetModel
curl -s "$url/GetModel" -H "$json" -d '{"name": "en-de"}' |
  jq -r '"GetModel: \(.family), \(.maxSourceTokens) tokens"'

# == Generate
curl -s "$url/Generate" -H "$json" -d '{
  "inputs": [{"text": "How are you?"}, {"text": "I am reading a book."}],
  "params": {"numBeams": 4}}' |
  jq -r '.results[].choices[0] | "Generate: \(.text)"'

# == GenerateStream
# Each message of a stream follows a byte of flags and its length in four bytes.
ask='{"inputs": [{"text": "How are you?"}]}'
printf 'GenerateStream: '
printf '\0\0\0\0%b%s' "\\0$(printf %o ${#ask})" "$ask" |
  curl -sN "$url/GenerateStream" --data-binary @- \
    -H 'Content-Type: application/connect+json' |
  LC_ALL=C tr '\000-\037' '\n' | LC_ALL=C sed -n 's/^.\{0,1\}\({".*\)/\1/p' |
  jq -rj '.text // ""'
echo

# == Translate
curl -s "$url/Translate" -H "$json" -d '{
  "documents": ["<p>I am reading a <b>book</b>.</p>"],
  "format": "DOCUMENT_FORMAT_HTML"}' |
  jq -r '.results[] | "Translate: \(.text)"'

# == TranslateStream
ask='{"documents": ["How are you? I am reading a book."]}'
printf 'TranslateStream: '
printf '\0\0\0\0%b%s' "\\0$(printf %o ${#ask})" "$ask" |
  curl -sN "$url/TranslateStream" --data-binary @- \
    -H 'Content-Type: application/connect+json' |
  LC_ALL=C tr '\000-\037' '\n' | LC_ALL=C sed -n 's/^.\{0,1\}\({".*\)/\1/p' |
  jq -rj '.text // ""'
echo

# == Score
curl -s "$url/Score" -H "$json" -d '{"pairs": [
  {"source": {"text": "How are you?"}, "target": {"text": "Wie geht es dir?"}},
  {"source": {"text": "How are you?"}, "target": {"text": "Es regnet."}}]}' |
  jq -r '"Score: the first fits better: \(
    .results[0].logProb > .results[1].logProb)"'

# == Embed
curl -s "$url/Embed" -H "$json" -d '{
  "inputs": [{"text": "A dog runs."}, {"text": "A dog is running."}],
  "normalize": true}' |
  jq -r '[.results[].values] | transpose | map(.[0] * .[1]) | add * 100 | round |
    "Embed: cosine \(. / 100)"'

# == Classify
if model_with TASK_CLASSIFY; then
  echo "$model" | jq '{model: .name, inputs: [{text: "I like it."}]}' |
    curl -s "$url/Classify" -H "$json" -d @- |
    jq -r '.results[].labels[0] |
      "Classify: \(.label) \(.score * 100 | round / 100)"'
fi

# == FillMask
if model_with TASK_FILL_MASK; then
  echo "$model" |
    jq '{model: .name, inputs: [{text: "A dog \(.maskToken)."}]}' |
    curl -s "$url/FillMask" -H "$json" -d @- |
    jq -r '.results[].masks[].candidates[0] | "FillMask: \(.text)"'
fi

# == Answer
if model_with TASK_ANSWER; then
  echo "$model" | jq '{model: .name, questions: [{question: "Who plays?",
      context: "Two dogs play. It rains."}]}' |
    curl -s "$url/Answer" -H "$json" -d @- |
    jq -r '.results[].answers[] | "Answer: \(.text)"'
fi

# == Rerank
if model_with TASK_RERANK; then
  echo "$model" | jq '{model: .name, query: "Who plays?",
      documents: ["Two dogs play.", "It rains.", "A man reads."]}' |
    curl -s "$url/Rerank" -H "$json" -d @- |
    jq -r '"Rerank: \([.results[] | .index // 0 | tostring] | join(" "))"'
fi

# == Tokenize
curl -s "$url/Tokenize" -H "$json" -d '{"texts": ["How are you?"]}' |
  jq -r '"Tokenize: \(.results[].pieces | join(" "))"'

# == Detokenize
ids=$(curl -s "$url/Tokenize" -H "$json" -d '{"texts": ["How are you?"]}' |
  jq -c '.results[0].ids')
curl -s "$url/Detokenize" -H "$json" -d "{\"sequences\": [{\"ids\": $ids}]}" |
  jq -r '"Detokenize: \(.results[].text)"'

# == Errors
# The call may take 5 s. A key, if the server wants one:
#   -H "Authorization: Bearer $KEY"
curl -s "$url/Generate" -H "$json" -H 'Connect-Timeout-Ms: 5000' -d '{
  "model": "none", "inputs": [{"text": "How are you?"}]}' |
  jq -r '"Errors: \(.code): \(.message)"'
