use std::time::Duration;

use pb::attend_client::AttendClient;
use tonic::transport::Channel;
use tonic::{Request, Status};

mod pb {
    tonic::include_proto!("attend.v1");
}

fn text(text: &str) -> pb::Input {
    pb::Input {
        input: Some(pb::input::Input::Text(text.into())),
        ..Default::default()
    }
}

/// The first model that has a task, if there is one.
async fn model_with(
    attend: &mut AttendClient<Channel>,
    task: pb::Task,
) -> Result<Option<pb::Model>, Status> {
    let response = attend.list_models(pb::ListModelsRequest {}).await?;
    let mut models = response.into_inner().models.into_iter();
    let found = models.find(|model| model.tasks().any(|each| each == task));
    if found.is_none() {
        println!("skipped: no model here has {}", task.as_str_name());
    }
    Ok(found)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::var("ATTEND_ADDRESS").unwrap_or("localhost:50051".into());
    let mut attend = AttendClient::connect(format!("http://{address}")).await?;

    // == ListModels
    let models = attend
        .list_models(pb::ListModelsRequest {})
        .await?
        .into_inner()
        .models;
    let names: Vec<_> = models.into_iter().map(|model| model.name).collect();
    println!("ListModels: {}", names.join(" "));

    // == GetModel
    let request = pb::GetModelRequest {
        name: "en-de".into(),
    };
    let model = attend.get_model(request).await?.into_inner();
    println!(
        "GetModel: {}, {} tokens",
        model.family, model.max_source_tokens
    );

    // == Generate
    let request = pb::GenerateRequest {
        inputs: vec![text("How are you?"), text("I am reading a book.")],
        params: Some(pb::GenerationParams {
            num_beams: Some(4),
            ..Default::default()
        }),
        ..Default::default()
    };
    for result in attend.generate(request).await?.into_inner().results {
        println!("Generate: {}", result.choices[0].text);
    }

    // == GenerateStream
    let request = pb::GenerateRequest {
        inputs: vec![text("How are you?")],
        ..Default::default()
    };
    let mut stream = attend.generate_stream(request).await?.into_inner();
    print!("GenerateStream: ");
    while let Some(chunk) = stream.message().await? {
        print!("{}", chunk.text);
    }
    println!();

    // == Translate
    let request = pb::TranslateRequest {
        documents: vec!["<p>I am reading a <b>book</b>.</p>".into()],
        format: pb::DocumentFormat::Html.into(),
        ..Default::default()
    };
    let translated = attend.translate(request).await?.into_inner().results;
    println!("Translate: {}", translated[0].text);

    // == TranslateStream
    let request = pb::TranslateRequest {
        documents: vec!["How are you? I am reading a book.".into()],
        ..Default::default()
    };
    let mut stream = attend.translate_stream(request).await?.into_inner();
    print!("TranslateStream: ");
    while let Some(chunk) = stream.message().await? {
        print!("{}", chunk.text);
    }
    println!();

    // == Score
    let pair = |german| pb::ScorePair {
        source: Some(text("How are you?")),
        target: Some(text(german)),
    };
    let request = pb::ScoreRequest {
        pairs: vec![pair("Wie geht es dir?"), pair("Es regnet.")],
        ..Default::default()
    };
    let scores = attend.score(request).await?.into_inner().results;
    println!(
        "Score: the first fits better: {}",
        scores[0].log_prob > scores[1].log_prob
    );

    // == Embed
    let request = pb::EmbedRequest {
        inputs: vec![text("A dog runs."), text("A dog is running.")],
        normalize: Some(true),
        ..Default::default()
    };
    let vectors = attend.embed(request).await?.into_inner().results;
    let pairs = vectors[0].values.iter().zip(&vectors[1].values);
    println!(
        "Embed: cosine {:.2}",
        pairs.map(|(a, b)| a * b).sum::<f32>()
    );

    // == Classify
    if let Some(model) = model_with(&mut attend, pb::Task::Classify).await? {
        let request = pb::ClassifyRequest {
            model: model.name,
            inputs: vec![text("I like it.")],
            ..Default::default()
        };
        let classified = attend.classify(request).await?.into_inner().results;
        let best = &classified[0].labels[0];
        println!("Classify: {} {:.2}", best.label, best.score);
    }

    // == FillMask
    if let Some(model) = model_with(&mut attend, pb::Task::FillMask).await? {
        let request = pb::FillMaskRequest {
            model: model.name,
            inputs: vec![text(&format!("A dog {}.", model.mask_token))],
            ..Default::default()
        };
        let filled = attend.fill_mask(request).await?.into_inner().results;
        println!("FillMask: {}", filled[0].masks[0].candidates[0].text);
    }

    // == Answer
    if let Some(model) = model_with(&mut attend, pb::Task::Answer).await? {
        let request = pb::AnswerRequest {
            model: model.name,
            questions: vec![pb::Question {
                question: "Who plays?".into(),
                context: "Two dogs play. It rains.".into(),
            }],
            ..Default::default()
        };
        let answered = attend.answer(request).await?.into_inner().results;
        println!("Answer: {}", answered[0].answers[0].text);
    }

    // == Rerank
    if let Some(model) = model_with(&mut attend, pb::Task::Rerank).await? {
        let request = pb::RerankRequest {
            model: model.name,
            query: "Who plays?".into(),
            documents: ["Two dogs play.", "It rains.", "A man reads."]
                .map(Into::into)
                .into(),
            ..Default::default()
        };
        print!("Rerank:");
        for result in attend.rerank(request).await?.into_inner().results {
            print!(" {}", result.index);
        }
        println!();
    }

    // == Tokenize
    let request = pb::TokenizeRequest {
        texts: vec!["How are you?".into()],
        ..Default::default()
    };
    let tokenized = attend.tokenize(request).await?.into_inner().results;
    println!("Tokenize: {}", tokenized[0].pieces.join(" "));

    // == Detokenize
    let tokens = pb::Tokens {
        ids: tokenized[0].ids.clone(),
        ..Default::default()
    };
    let request = pb::DetokenizeRequest {
        sequences: vec![tokens],
        ..Default::default()
    };
    let texts = attend.detokenize(request).await?.into_inner().results;
    println!("Detokenize: {}", texts[0].text);

    // == Errors
    let mut request = Request::new(pb::GenerateRequest {
        model: "none".into(),
        inputs: vec![text("How are you?")],
        ..Default::default()
    });
    request.set_timeout(Duration::from_secs(5));
    // A key, if the server wants one:
    // request.metadata_mut().insert("authorization", format!("Bearer {key}").parse()?);
    if let Err(status) = attend.generate(request).await {
        println!("Errors: {:?}: {}", status.code(), status.message());
    }

    // == end
    Ok(())
}
