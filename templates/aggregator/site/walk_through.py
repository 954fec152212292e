import os

import requests

api = os.environ["MURMUR"] + "/api/surveys"
http = requests.Session()
http.headers["Authorization"] = "Bearer " + os.environ["MURMUR_TOKEN"]


def ask(method, address, **more):
    reply = http.request(method, address, **more)
    reply.raise_for_status()
    return reply


# read-results and read-files: save the estimates of every closed survey.
for survey in ask("GET", api).json()["results"]:
    if survey["state"] == "closed":
        estimates = ask("GET", f"{api}/{survey['slug']}/estimates.csv")
        with open(survey["slug"] + ".csv", "wb") as file:
            file.write(estimates.content)

# write-drafts: change the title of a draft, unless someone else
# has changed the draft since it was read.
address = f"{api}/{os.environ['DRAFT']}/definition"
read = ask("GET", address)
definition = read.json()
definition["title"] += ", second version"
ask("PUT", address, json=definition, headers={"If-Match": read.headers["ETag"]})

# write-drafts: create a draft with the same content.
made = ask("POST", api, json=definition).json()
print(made["slug"], made["title"])
