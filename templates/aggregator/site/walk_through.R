library(httr2)

api <- paste0(Sys.getenv("MURMUR"), "/api/surveys/")

ask <- function(...) {
  request(paste0(api, ...)) |>
    req_auth_bearer_token(Sys.getenv("MURMUR_TOKEN"))
}

# read-results: the estimates of a survey, as a table.
survey <- Sys.getenv("SURVEY")
results <- ask(survey, "/results") |>
  req_perform() |>
  resp_body_json(simplifyVector = TRUE)
estimates <- do.call(rbind, results$questions$estimates)
print(estimates[c("text", "estimate", "interval_low", "interval_high")])

# read-files: one row of randomized codes for each person.
rows <- ask(survey, "/reports.csv") |> req_perform() |> resp_body_string()
print(summary(read.csv(text = rows)))

# write-drafts: change the title of a draft, unless someone else
# has changed the draft since it was read.
draft <- ask(Sys.getenv("DRAFT"), "/definition")
read <- req_perform(draft)
definition <- resp_body_json(read)
definition$title <- paste0(definition$title, ", second version")
draft |>
  req_method("PUT") |>
  req_body_json(definition) |>
  req_headers("If-Match" = resp_header(read, "ETag")) |>
  req_perform()
