//! temp
use std::sync::Arc; use std::time::Instant; use bytes::Bytes; use http_body_util::{BodyExt, Full};
use secrecy::SecretString; use serde_json::json; use toolgate_executors::*; use toolgate_core::definition::model::ToolDefinition;
struct E; impl EnvSource for E { fn get(&self,_:&str)->Option<SecretString>{None} }
fn main(){
 let body: &'static str = Box::leak(format!("{{\"data\":\"{}\"}}", "x".repeat(1000)).into_boxed_str());
 let (tx,rx)=std::sync::mpsc::channel();
 std::thread::spawn(move || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
  let app = axum::Router::new().route("/x", axum::routing::get(move || async move { ([("content-type","application/json")], body) }));
  let l = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(); tx.send(l.local_addr().unwrap()).unwrap(); axum::serve(l, app).await.unwrap(); }));
 let addr = rx.recv().unwrap(); let url=format!("http://{addr}");
 tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
  let t=Instant::now();
  let ex = Arc::new(Executors::new(ExecutorConfig::new(EgressPolicy::parse(&[url.clone()]).unwrap(), Arc::new(E))));
  println!("new: {:?}", t.elapsed());
  let def: Arc<ToolDefinition> = Arc::new(serde_json::from_value(json!({"name":"t","type":"openapi","parameters":{},"options":{"http":{"base_url":url,"path":"/x"}}})).unwrap());
  let client: hyper_util::client::legacy::Client<_, Full<Bytes>> = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
  for round in 0..4 { for conns in [1usize,32] { for which in [0,1] {
   let n = 20000/conns; let t=Instant::now();
   let tasks: Vec<_> = (0..conns).map(|_| { let (ex,def,client,url)=(ex.clone(),def.clone(),client.clone(),url.clone()); tokio::spawn(async move {
     for _ in 0..n { if which==0 { let r = client.get(format!("{url}/x?q=a").parse().unwrap()).await.unwrap(); let b=r.into_body().collect().await.unwrap().to_bytes(); let v: serde_json::Value = serde_json::from_slice(&b).unwrap(); std::hint::black_box(v); }
       else { let i = Invocation{call_id: toolgate_core::ids::CallId(uuid::Uuid::nil()), project: toolgate_core::ids::ProjectId::parse("p").unwrap(), definition:def.clone(), envs: Arc::default(), arguments: json!({"q":"a"}).as_object().unwrap().clone()}; std::hint::black_box(ex.execute(i).await.unwrap()); } } }) }).collect();
   for t in tasks { t.await.unwrap(); }
   if round>0 { println!("conns {conns} {} {:.1} us/call", ["hyper","executors"][which], t.elapsed().as_secs_f64()*1e6/20000.0); }
  }}}
 });
}
