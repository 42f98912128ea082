#ifndef ATTEND_SERVER_OPENAI_SCHEMA_REFERENCES_H_
#define ATTEND_SERVER_OPENAI_SCHEMA_REFERENCES_H_

#include <string>

#include "server/http_call/json_value.h"

namespace attend {

// References to the root of a schema become references to `place`, where it
// will be. What is data, and no schema, stays.
void MoveReferences(const std::string& place, Json& schema);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_SCHEMA_REFERENCES_H_
