; sha256 4acb9ae840ce164bd7ee859ac95e33522433d49898d53b1f2198cc4e208a4421
%struct.host = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64 }
%struct.relocation = type { i64, i64, i64 }
%struct.value = type { i64, ptr, ptr }
%struct.input = type { ptr, i64, [16 x ptr] }
%struct.change = type { i64, ptr, i64, i64 }
%struct.result = type { ptr, i64, i64 }
@host = internal unnamed_addr global %struct.host zeroinitializer, align 8
@pool = internal unnamed_addr global ptr null, align 8
@product.one32 = internal constant [2 x float] [float 1.000000e+00, float 0.000000e+00], align 4
@product.zero32 = internal constant [2 x float] zeroinitializer, align 4
@product.one64 = internal constant [2 x double] [double 1.000000e+00, double 0.000000e+00], align 16
@product.zero64 = internal constant [2 x double] zeroinitializer, align 16
define dso_local noundef i64 @kernel(ptr nocapture noundef initializes((0, 48)) %0) local_unnamed_addr #0 {
  store ptr @worker, ptr %0, align 8
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr @launch, ptr %2, align 8
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store ptr @call, ptr %3, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store ptr @renew, ptr %4, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 32
  store ptr @alone, ptr %5, align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 40
  store ptr @product, ptr %6, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(416) @host, ptr noundef nonnull align 8 dereferenceable(416) %0, i64 416, i1 false)
  ret i64 0
}
define internal void @worker(ptr noundef %0) #1 {
  %2 = alloca [2 x i64], align 16
  %3 = alloca [2 x i64], align 16
  %4 = alloca [2 x i64], align 16
  %5 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 128), align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %17, label %7
7:                                                ; preds = %1
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 576
  %9 = atomicrmw add ptr %8, i64 1 seq_cst, align 64
  %10 = icmp slt i64 %9, 8
  br i1 %10, label %11, label %17
11:                                               ; preds = %7
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 592
  %13 = getelementptr inbounds [8 x ptr], ptr %12, i64 0, i64 %9
  %14 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 144), align 8
  %15 = tail call ptr %14() #11
  %16 = ptrtoint ptr %15 to i64
  store atomic i64 %16, ptr %13 seq_cst, align 8
  br label %17
17:                                               ; preds = %1, %7, %11
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 448
  %25 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 168
  br label %31
31:                                               ; preds = %102, %17
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #12
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %33 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %34 = trunc i64 %33 to i32
  %35 = call i32 %32(i32 noundef %34, ptr noundef nonnull %4) #11
  %36 = load i64, ptr %4, align 16
  %37 = load i64, ptr %18, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #12
  %38 = load atomic i64, ptr %19 monotonic, align 128
  %39 = icmp slt i64 %38, 281474976710656
  %40 = and i64 %38, 281470681743360
  %41 = icmp eq i64 %40, 0
  %42 = or i1 %39, %41
  br i1 %42, label %43, label %97
43:                                               ; preds = %31
  %44 = mul nsw i64 %36, 1000000000
  %45 = add nsw i64 %44, %37
  br label %46
46:                                               ; preds = %89, %43
  %47 = phi i64 [ %45, %43 ], [ %90, %89 ]
  %48 = phi i64 [ 1, %43 ], [ %91, %89 ]
  call void @rho_pause() #11
  %49 = and i64 %48, 63
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %51, label %89
51:                                               ; preds = %46
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %3) #12
  %52 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %53 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %54 = trunc i64 %53 to i32
  %55 = call i32 %52(i32 noundef %54, ptr noundef nonnull %3) #11
  %56 = load i64, ptr %3, align 16
  %57 = mul nsw i64 %56, 1000000000
  %58 = load i64, ptr %20, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %3) #12
  %59 = sub i64 %58, %47
  %60 = add i64 %59, %57
  %61 = icmp slt i64 %60, 40001
  br i1 %61, label %89, label %62
62:                                               ; preds = %51
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 96), align 8
  %64 = call i32 %63(ptr noundef nonnull %21) #11
  %65 = atomicrmw add ptr %22, i64 1 seq_cst, align 128
  %66 = load i64, ptr %23, align 8
  %67 = load atomic i64, ptr %19 seq_cst, align 128
  %68 = icmp slt i64 %67, 281474976710656
  %69 = and i64 %67, 281470681743360
  %70 = icmp eq i64 %69, 0
  %71 = or i1 %68, %70
  br i1 %71, label %72, label %77
72:                                               ; preds = %62, %72
  %73 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 112), align 8
  %74 = call i32 %73(ptr noundef nonnull %24, ptr noundef nonnull %21) #11
  %75 = load i64, ptr %23, align 8
  %76 = icmp eq i64 %75, %66
  br i1 %76, label %72, label %77
77:                                               ; preds = %72, %62
  %78 = atomicrmw add ptr %22, i64 -1 seq_cst, align 128
  %79 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 104), align 8
  %80 = call i32 %79(ptr noundef nonnull %21) #11
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #12
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %82 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %83 = trunc i64 %82 to i32
  %84 = call i32 %81(i32 noundef %83, ptr noundef nonnull %2) #11
  %85 = load i64, ptr %2, align 16
  %86 = mul nsw i64 %85, 1000000000
  %87 = load i64, ptr %25, align 8
  %88 = add nsw i64 %86, %87
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #12
  br label %89
89:                                               ; preds = %77, %51, %46
  %90 = phi i64 [ %47, %46 ], [ %47, %51 ], [ %88, %77 ]
  %91 = add nuw nsw i64 %48, 1
  %92 = load atomic i64, ptr %19 monotonic, align 128
  %93 = icmp slt i64 %92, 281474976710656
  %94 = and i64 %92, 281470681743360
  %95 = icmp eq i64 %94, 0
  %96 = or i1 %93, %95
  br i1 %96, label %46, label %97
97:                                               ; preds = %89, %31
  %98 = phi i64 [ %38, %31 ], [ %92, %89 ]
  %99 = add nsw i64 %98, -281479271677951
  %100 = cmpxchg ptr %19, i64 %98, i64 %99 seq_cst monotonic, align 8
  %101 = extractvalue { i64, i1 } %100, 1
  br i1 %101, label %103, label %102
102:                                              ; preds = %97, %122
  br label %31
103:                                              ; preds = %97, %119
  %104 = phi i64 [ %120, %119 ], [ %98, %97 ]
  %105 = load i64, ptr %26, align 32
  %106 = and i64 %104, 4294967295
  %107 = xor i64 %106, -1
  %108 = add i64 %105, %107
  %109 = load ptr, ptr %27, align 8
  %110 = load ptr, ptr %28, align 16
  %111 = load i64, ptr %29, align 8
  %112 = mul nsw i64 %111, %108
  %113 = getelementptr inbounds i8, ptr %110, i64 %112
  %114 = call i64 %109(ptr noundef %113) #11
  %115 = icmp eq i64 %114, 0
  br i1 %115, label %119, label %116
116:                                              ; preds = %103
  %117 = load ptr, ptr %30, align 8
  %118 = getelementptr inbounds i64, ptr %117, i64 %108
  store i64 %114, ptr %118, align 8
  br label %119
119:                                              ; preds = %116, %103
  %120 = atomicrmw add ptr %19, i64 -281474976710655 seq_cst, align 128
  %121 = icmp sgt i64 %120, 281474976710655
  br i1 %121, label %103, label %122
122:                                              ; preds = %119
  %123 = atomicrmw add ptr %19, i64 4294967296 seq_cst, align 128
  br label %102
}
define internal i64 @launch(ptr noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef writeonly %2) #2 {
  %4 = alloca [2 x i64], align 16
  %5 = alloca [2 x i64], align 16
  %6 = alloca [2 x i64], align 16
  %7 = alloca [16 x i64], align 16
  %8 = alloca [2 x i64], align 16
  %9 = alloca [1024 x i64], align 64
  call void @llvm.lifetime.start.p0(i64 8192, ptr nonnull %9) #12
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load i64, ptr %10, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %11
  %15 = add nsw i64 %14, %11
  %16 = icmp slt i64 %15, 1025
  br i1 %16, label %22, label %17
17:                                               ; preds = %3
  %18 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 48), align 8
  %19 = shl i64 %15, 3
  %20 = tail call ptr %18(i64 noundef %19) #11
  %21 = icmp eq ptr %20, null
  br i1 %21, label %352, label %22
22:                                               ; preds = %3, %17
  %23 = phi ptr [ %20, %17 ], [ %9, %3 ]
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %26 = load i64, ptr %25, align 8
  %27 = getelementptr inbounds %struct.relocation, ptr %24, i64 %26
  %28 = shl i64 %14, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %23, ptr nonnull align 8 %27, i64 %28, i1 false)
  %29 = load i64, ptr %25, align 8
  %30 = icmp sgt i64 %29, 0
  br i1 %30, label %35, label %31
31:                                               ; preds = %35, %22
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %33 = load i64, ptr %32, align 8
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %67, label %50
35:                                               ; preds = %22, %35
  %36 = phi ptr [ %46, %35 ], [ %24, %22 ]
  %37 = getelementptr inbounds nuw i8, ptr %36, i64 8
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds i64, ptr %1, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds nuw i8, ptr %36, i64 16
  %42 = load i64, ptr %41, align 8
  %43 = add nsw i64 %42, %40
  %44 = load i64, ptr %36, align 8
  %45 = getelementptr inbounds i64, ptr %23, i64 %44
  store i64 %43, ptr %45, align 8
  %46 = getelementptr inbounds nuw i8, ptr %36, i64 24
  %47 = load i64, ptr %25, align 8
  %48 = getelementptr inbounds %struct.relocation, ptr %24, i64 %47
  %49 = icmp ult ptr %46, %48
  br i1 %49, label %35, label %31
50:                                               ; preds = %31
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %52 = load i64, ptr %51, align 8
  %53 = load ptr, ptr @pool, align 8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %67, label %55
55:                                               ; preds = %50
  %56 = cmpxchg ptr %53, i64 0, i64 1 seq_cst monotonic, align 8
  %57 = extractvalue { i64, i1 } %56, 1
  br i1 %57, label %58, label %67
58:                                               ; preds = %55
  %59 = getelementptr inbounds nuw i8, ptr %53, i64 8
  %60 = load i64, ptr %59, align 8
  %61 = icmp eq i64 %60, 0
  br i1 %61, label %69, label %62
62:                                               ; preds = %58
  %63 = tail call i64 @llvm.smax.i64(i64 %52, i64 1000)
  %64 = icmp sgt i64 %60, %63
  %65 = sub nsw i64 %60, %63
  %66 = select i1 %64, i64 %65, i64 0
  store i64 %66, ptr %59, align 8
  store atomic i64 0, ptr %53 seq_cst, align 128
  br label %67
67:                                               ; preds = %62, %55, %50, %31
  %68 = icmp sgt i64 %11, 0
  br i1 %68, label %329, label %347
69:                                               ; preds = %58
  %70 = getelementptr inbounds i64, ptr %23, i64 %14
  %71 = load ptr, ptr %0, align 8
  %72 = shl i64 %13, 3
  %73 = load i64, ptr %32, align 8
  %74 = load i64, ptr %51, align 8
  %75 = getelementptr inbounds nuw i8, ptr %53, i64 136
  store ptr %71, ptr %75, align 8
  %76 = getelementptr inbounds nuw i8, ptr %53, i64 144
  store ptr %23, ptr %76, align 16
  %77 = getelementptr inbounds nuw i8, ptr %53, i64 152
  store i64 %72, ptr %77, align 8
  %78 = getelementptr inbounds nuw i8, ptr %53, i64 160
  store i64 %11, ptr %78, align 32
  %79 = getelementptr inbounds nuw i8, ptr %53, i64 168
  store ptr %70, ptr %79, align 8
  %80 = shl i64 %11, 3
  call void @llvm.memset.p0.i64(ptr nonnull align 8 %70, i8 0, i64 %80, i1 false)
  %81 = getelementptr inbounds nuw i8, ptr %53, i64 128
  %82 = shl nsw i64 %11, 48
  %83 = shl nsw i64 %73, 32
  %84 = add nsw i64 %83, %82
  store atomic i64 %84, ptr %81 seq_cst, align 128
  %85 = getelementptr inbounds nuw i8, ptr %53, i64 256
  %86 = load atomic i64, ptr %85 seq_cst, align 128
  %87 = icmp eq i64 %86, 0
  br i1 %87, label %233, label %88
88:                                               ; preds = %69
  %89 = icmp sgt i64 %74, 500000
  br i1 %89, label %128, label %90
90:                                               ; preds = %88
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %8) #12
  %91 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %92 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %93 = trunc i64 %92 to i32
  %94 = call i32 %91(i32 noundef %93, ptr noundef nonnull %8) #11
  %95 = load i64, ptr %8, align 16
  %96 = mul nsw i64 %95, 1000000000
  %97 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %98 = load i64, ptr %97, align 8
  %99 = add nsw i64 %96, %98
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %8) #12
  %100 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %101 = load i64, ptr %100, align 16
  %102 = sub i64 %99, %101
  %103 = icmp slt i64 %102, 50000
  %104 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %105 = icmp sgt i64 %74, %104
  %106 = select i1 %103, i1 true, i1 %105
  br i1 %106, label %107, label %233
107:                                              ; preds = %90
  %108 = getelementptr inbounds nuw i8, ptr %53, i64 40
  %109 = load i64, ptr %108, align 8
  %110 = icmp eq i64 %109, 0
  br i1 %110, label %113, label %111
111:                                              ; preds = %107
  %112 = add nsw i64 %109, -1
  store i64 %112, ptr %108, align 8
  br label %233
113:                                              ; preds = %107
  %114 = getelementptr inbounds nuw i8, ptr %53, i64 24
  %115 = load i64, ptr %114, align 8
  %116 = getelementptr inbounds nuw i8, ptr %53, i64 32
  %117 = load i64, ptr %116, align 32
  %118 = icmp eq i64 %115, %117
  br i1 %118, label %119, label %125
119:                                              ; preds = %113
  %120 = getelementptr inbounds nuw i8, ptr %53, i64 48
  %121 = load i64, ptr %120, align 16
  %122 = shl i64 %121, 1
  %123 = and i64 %122, 126
  %124 = or disjoint i64 %123, 1
  br label %125
125:                                              ; preds = %119, %113
  %126 = phi i64 [ %124, %119 ], [ 0, %113 ]
  %127 = getelementptr inbounds nuw i8, ptr %53, i64 48
  store i64 %126, ptr %127, align 16
  store i64 %115, ptr %116, align 32
  store i64 %126, ptr %108, align 8
  br label %128
128:                                              ; preds = %125, %88
  %129 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 128), align 8
  %130 = icmp eq ptr %129, null
  br i1 %130, label %221, label %131
131:                                              ; preds = %128
  %132 = call i32 %129() #11
  %133 = sext i32 %132 to i64
  %134 = getelementptr inbounds nuw i8, ptr %53, i64 576
  %135 = load atomic i64, ptr %134 seq_cst, align 64
  %136 = shl nsw i64 %133, 8
  %137 = or i64 %136, %135
  %138 = getelementptr inbounds nuw i8, ptr %53, i64 584
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %137, %139
  %141 = icmp sgt i64 %135, 8
  %142 = or i1 %141, %140
  %143 = icmp ugt i32 %132, 1023
  %144 = or i1 %143, %142
  br i1 %144, label %221, label %145
145:                                              ; preds = %131
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %7) #12
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %7, i8 0, i64 128, i1 false)
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 136), align 8
  %147 = call i32 %146(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #11
  %148 = icmp eq i32 %147, 0
  br i1 %148, label %149, label %220
149:                                              ; preds = %145
  %150 = and i64 %133, 63
  %151 = shl nuw i64 1, %150
  %152 = xor i64 %151, -1
  %153 = lshr i64 %133, 6
  %154 = getelementptr inbounds nuw [16 x i64], ptr %7, i64 0, i64 %153
  %155 = load i64, ptr %154, align 8
  %156 = and i64 %155, %152
  store i64 %156, ptr %154, align 8
  %157 = load i64, ptr %7, align 16
  %158 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %159 = load i64, ptr %158, align 8
  %160 = or i64 %159, %157
  %161 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %162 = load i64, ptr %161, align 16
  %163 = or i64 %160, %162
  %164 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %165 = load i64, ptr %164, align 8
  %166 = or i64 %163, %165
  %167 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %168 = load i64, ptr %167, align 16
  %169 = or i64 %166, %168
  %170 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %171 = load i64, ptr %170, align 8
  %172 = or i64 %169, %171
  %173 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %174 = load i64, ptr %173, align 16
  %175 = or i64 %172, %174
  %176 = getelementptr inbounds nuw i8, ptr %7, i64 56
  %177 = load i64, ptr %176, align 8
  %178 = or i64 %175, %177
  %179 = getelementptr inbounds nuw i8, ptr %7, i64 64
  %180 = load i64, ptr %179, align 16
  %181 = or i64 %178, %180
  %182 = getelementptr inbounds nuw i8, ptr %7, i64 72
  %183 = load i64, ptr %182, align 8
  %184 = or i64 %181, %183
  %185 = getelementptr inbounds nuw i8, ptr %7, i64 80
  %186 = load i64, ptr %185, align 16
  %187 = or i64 %184, %186
  %188 = getelementptr inbounds nuw i8, ptr %7, i64 88
  %189 = load i64, ptr %188, align 8
  %190 = or i64 %187, %189
  %191 = getelementptr inbounds nuw i8, ptr %7, i64 96
  %192 = load i64, ptr %191, align 16
  %193 = or i64 %190, %192
  %194 = getelementptr inbounds nuw i8, ptr %7, i64 104
  %195 = load i64, ptr %194, align 8
  %196 = or i64 %193, %195
  %197 = getelementptr inbounds nuw i8, ptr %7, i64 112
  %198 = load i64, ptr %197, align 16
  %199 = or i64 %196, %198
  %200 = getelementptr inbounds nuw i8, ptr %7, i64 120
  %201 = load i64, ptr %200, align 8
  %202 = or i64 %199, %201
  %203 = icmp eq i64 %202, 0
  br i1 %203, label %220, label %204
204:                                              ; preds = %149
  store i64 %137, ptr %138, align 8
  %205 = icmp sgt i64 %135, 0
  br i1 %205, label %206, label %220
206:                                              ; preds = %204
  %207 = getelementptr inbounds nuw i8, ptr %53, i64 592
  br label %208
208:                                              ; preds = %217, %206
  %209 = phi i64 [ 0, %206 ], [ %218, %217 ]
  %210 = getelementptr inbounds nuw [8 x ptr], ptr %207, i64 0, i64 %209
  %211 = load atomic i64, ptr %210 seq_cst, align 8
  %212 = icmp eq i64 %211, 0
  br i1 %212, label %217, label %213
213:                                              ; preds = %208
  %214 = inttoptr i64 %211 to ptr
  %215 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 152), align 8
  %216 = call i32 %215(ptr noundef nonnull %214, i64 noundef 128, ptr noundef nonnull %7) #11
  br label %217
217:                                              ; preds = %213, %208
  %218 = add nuw nsw i64 %209, 1
  %219 = icmp eq i64 %218, %135
  br i1 %219, label %220, label %208
220:                                              ; preds = %217, %204, %149, %145
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %7) #12
  br label %221
221:                                              ; preds = %220, %131, %128
  %222 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 96), align 8
  %223 = getelementptr inbounds nuw i8, ptr %53, i64 320
  %224 = call i32 %222(ptr noundef nonnull %223) #11
  %225 = getelementptr inbounds nuw i8, ptr %53, i64 264
  %226 = load i64, ptr %225, align 8
  %227 = add nsw i64 %226, 1
  store i64 %227, ptr %225, align 8
  %228 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 120), align 8
  %229 = getelementptr inbounds nuw i8, ptr %53, i64 448
  %230 = call i32 %228(ptr noundef nonnull %229) #11
  %231 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 104), align 8
  %232 = call i32 %231(ptr noundef nonnull %223) #11
  br label %233
233:                                              ; preds = %221, %111, %90, %69
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %6) #12
  %234 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %235 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %236 = trunc i64 %235 to i32
  %237 = call i32 %234(i32 noundef %236, ptr noundef nonnull %6) #11
  %238 = load i64, ptr %6, align 16
  %239 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %240 = load i64, ptr %239, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %6) #12
  %241 = atomicrmw add ptr %81, i64 -281474976710656 seq_cst, align 128
  %242 = icmp sgt i64 %241, 281474976710655
  br i1 %242, label %243, label %257
243:                                              ; preds = %233, %251
  %244 = phi i64 [ %252, %251 ], [ 0, %233 ]
  %245 = mul nsw i64 %244, %72
  %246 = getelementptr inbounds i8, ptr %23, i64 %245
  %247 = call i64 %71(ptr noundef nonnull %246) #11
  %248 = icmp eq i64 %247, 0
  br i1 %248, label %251, label %249
249:                                              ; preds = %243
  %250 = getelementptr inbounds nuw i64, ptr %70, i64 %244
  store i64 %247, ptr %250, align 8
  br label %251
251:                                              ; preds = %249, %243
  %252 = add nuw nsw i64 %244, 1
  %253 = atomicrmw add ptr %81, i64 -281474976710656 seq_cst, align 128
  %254 = icmp sgt i64 %253, 281474976710655
  br i1 %254, label %243, label %255
255:                                              ; preds = %251
  %256 = xor i64 %244, -1
  br label %257
257:                                              ; preds = %255, %233
  %258 = phi i64 [ 0, %233 ], [ %256, %255 ]
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #12
  %259 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %260 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %261 = trunc i64 %260 to i32
  %262 = call i32 %259(i32 noundef %261, ptr noundef nonnull %5) #11
  %263 = load i64, ptr %5, align 16
  %264 = mul nsw i64 %263, 1000000000
  %265 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %266 = load i64, ptr %265, align 8
  %267 = add nsw i64 %264, %266
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #12
  %268 = sdiv i64 %74, %11
  %269 = sdiv i64 %268, 16
  %270 = add nsw i64 %269, 2000
  %271 = load atomic i64, ptr %81 acquire, align 128
  %272 = and i64 %271, 281470681743360
  %273 = icmp eq i64 %272, %83
  br i1 %273, label %274, label %296
274:                                              ; preds = %303, %257
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #12
  %275 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %276 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %277 = trunc i64 %276 to i32
  %278 = call i32 %275(i32 noundef %277, ptr noundef nonnull %4) #11
  %279 = load i64, ptr %4, align 16
  %280 = mul nsw i64 %279, 1000000000
  %281 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %282 = load i64, ptr %281, align 8
  %283 = add nsw i64 %280, %282
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #12
  %284 = sub nsw i64 %283, %267
  %285 = mul i64 %238, -1000000000
  %286 = sub i64 %285, %240
  %287 = add i64 %286, 50000
  %288 = add i64 %287, %267
  %289 = icmp sgt i64 %284, %288
  %290 = getelementptr inbounds nuw i8, ptr %53, i64 56
  %291 = load i64, ptr %290, align 8
  %292 = add i64 %258, %11
  %293 = getelementptr inbounds nuw i8, ptr %53, i64 24
  %294 = load i64, ptr %293, align 8
  %295 = add nsw i64 %292, %294
  store i64 %295, ptr %293, align 8
  br i1 %289, label %308, label %314
296:                                              ; preds = %257, %303
  %297 = phi i64 [ %304, %303 ], [ 0, %257 ]
  %298 = icmp slt i64 %297, %270
  br i1 %298, label %299, label %300
299:                                              ; preds = %296
  call void @rho_pause() #11
  br label %303
300:                                              ; preds = %296
  %301 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 72), align 8
  %302 = call i32 %301() #11
  br label %303
303:                                              ; preds = %300, %299
  %304 = add nuw nsw i64 %297, 1
  %305 = load atomic i64, ptr %81 acquire, align 128
  %306 = and i64 %305, 281470681743360
  %307 = icmp eq i64 %306, %83
  br i1 %307, label %274, label %296
308:                                              ; preds = %274
  %309 = shl nsw i64 %291, 1
  %310 = call i64 @llvm.smin.i64(i64 %309, i64 248)
  %311 = add nsw i64 %310, 8
  %312 = mul nsw i64 %311, %284
  %313 = sdiv i64 %312, 4
  br label %316
314:                                              ; preds = %274
  %315 = sdiv i64 %291, 2
  br label %316
316:                                              ; preds = %308, %314
  %317 = phi i64 [ %313, %308 ], [ 0, %314 ]
  %318 = phi i64 [ %311, %308 ], [ %315, %314 ]
  store i64 %317, ptr %59, align 8
  store i64 %318, ptr %290, align 8
  %319 = getelementptr inbounds nuw i8, ptr %53, i64 16
  store i64 %283, ptr %319, align 16
  store atomic i64 0, ptr %53 release, align 128
  %320 = icmp sgt i64 %11, 0
  br i1 %320, label %321, label %347
321:                                              ; preds = %316, %326
  %322 = phi i64 [ %327, %326 ], [ 0, %316 ]
  %323 = getelementptr inbounds nuw i64, ptr %70, i64 %322
  %324 = load i64, ptr %323, align 8
  %325 = icmp eq i64 %324, 0
  br i1 %325, label %326, label %339
326:                                              ; preds = %321
  %327 = add nuw nsw i64 %322, 1
  %328 = icmp eq i64 %327, %11
  br i1 %328, label %347, label %321
329:                                              ; preds = %67, %336
  %330 = phi i64 [ %337, %336 ], [ 0, %67 ]
  %331 = load ptr, ptr %0, align 8
  %332 = mul nsw i64 %330, %13
  %333 = getelementptr inbounds i64, ptr %23, i64 %332
  %334 = call i64 %331(ptr noundef nonnull %333) #11
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %336, label %339
336:                                              ; preds = %329
  %337 = add nuw nsw i64 %330, 1
  %338 = icmp eq i64 %337, %11
  br i1 %338, label %347, label %329
339:                                              ; preds = %321, %329
  %340 = phi i64 [ %330, %329 ], [ %322, %321 ]
  %341 = phi i64 [ %334, %329 ], [ %324, %321 ]
  %342 = add nuw nsw i64 %340, 1
  %343 = mul nsw i64 %342, %13
  %344 = getelementptr i64, ptr %23, i64 %343
  %345 = getelementptr i8, ptr %344, i64 -8
  %346 = load i64, ptr %345, align 8
  store i64 %346, ptr %2, align 8
  br label %347
347:                                              ; preds = %326, %336, %316, %67, %339
  %348 = phi i64 [ %341, %339 ], [ 0, %67 ], [ 0, %316 ], [ 0, %336 ], [ 0, %326 ]
  %349 = icmp eq ptr %23, %9
  br i1 %349, label %352, label %350
350:                                              ; preds = %347
  %351 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  call void %351(ptr noundef nonnull %23) #11
  br label %352
352:                                              ; preds = %347, %350, %17
  %353 = phi i64 [ -1, %17 ], [ %348, %350 ], [ %348, %347 ]
  call void @llvm.lifetime.end.p0(i64 8192, ptr nonnull %9) #12
  ret i64 %353
}
define internal ptr @call(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, i64 noundef %2) #2 {
  %4 = alloca ptr, align 8
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca [3 x ptr], align 16
  %8 = alloca [1 x ptr], align 8
  %9 = alloca [1 x ptr], align 8
  %10 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 336), align 8
  %11 = getelementptr inbounds i8, ptr %0, i64 %10
  %12 = load ptr, ptr %11, align 8
  %13 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %14 = getelementptr inbounds i8, ptr %12, i64 %13
  %15 = load ptr, ptr %14, align 8
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i64 %2, %16
  br i1 %17, label %18, label %30
18:                                               ; preds = %3
  %19 = getelementptr inbounds nuw i8, ptr %15, i64 40
  %20 = load i64, ptr %19, align 8
  %21 = icmp eq i64 %20, 0
  br i1 %21, label %22, label %30
22:                                               ; preds = %18
  %23 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %24 = load i64, ptr %23, align 8
  %25 = icmp eq i64 %24, 0
  br i1 %25, label %35, label %26
26:                                               ; preds = %22
  %27 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %28 = load i64, ptr %27, align 8
  %29 = icmp eq i64 %28, 0
  br i1 %29, label %35, label %30
30:                                               ; preds = %26, %18, %3
  %31 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %32 = getelementptr inbounds nuw i8, ptr %15, i64 64
  %33 = load ptr, ptr %32, align 8
  tail call void %31(ptr noundef %33) #11
  %34 = load ptr, ptr %32, align 8
  br label %767
35:                                               ; preds = %26, %22
  %36 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %37 = load i64, ptr %36, align 8
  %38 = tail call ptr @llvm.stacksave.p0()
  %39 = alloca %struct.value, i64 %37, align 16
  %40 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %41 = load i64, ptr %40, align 8
  %42 = add nsw i64 %41, %2
  %43 = alloca i64, i64 %42, align 16
  %44 = mul nuw i64 %37, 24
  call void @llvm.memset.p0.i64(ptr nonnull align 16 %39, i8 0, i64 %44, i1 false)
  %45 = icmp sgt i64 %2, 0
  br i1 %45, label %46, label %170
46:                                               ; preds = %35
  %47 = getelementptr inbounds nuw i8, ptr %15, i64 120
  %48 = getelementptr inbounds nuw i8, ptr %15, i64 80
  br label %49
49:                                               ; preds = %46, %158
  %50 = phi i64 [ 0, %46 ], [ %163, %158 ]
  %51 = getelementptr inbounds nuw ptr, ptr %1, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds nuw %struct.input, ptr %47, i64 %50
  %54 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %50
  %55 = load i64, ptr %40, align 8
  %56 = getelementptr inbounds i64, ptr %43, i64 %55
  %57 = getelementptr inbounds nuw i64, ptr %56, i64 %50
  %58 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %59 = getelementptr inbounds i8, ptr %52, i64 %58
  %60 = load ptr, ptr %59, align 8
  %61 = load ptr, ptr %48, align 8
  %62 = icmp eq ptr %60, %61
  br i1 %62, label %63, label %121
63:                                               ; preds = %49
  %64 = getelementptr inbounds nuw i8, ptr %53, i64 8
  %65 = load i64, ptr %64, align 8
  %66 = icmp sgt i64 %65, 0
  br i1 %66, label %67, label %146
67:                                               ; preds = %63
  %68 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %69 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %70 = getelementptr inbounds i8, ptr %52, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %73 = getelementptr inbounds i8, ptr %52, i64 %72
  %74 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %75 = getelementptr inbounds i8, ptr %52, i64 %74
  %76 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %77 = getelementptr inbounds i8, ptr %52, i64 %76
  br label %78
78:                                               ; preds = %114, %67
  %79 = phi i64 [ 0, %67 ], [ %115, %114 ]
  %80 = getelementptr inbounds nuw [16 x ptr], ptr %68, i64 0, i64 %79
  %81 = load ptr, ptr %80, align 8
  %82 = load ptr, ptr %81, align 8
  %83 = ptrtoint ptr %82 to i64
  %84 = icmp eq i64 %71, %83
  br i1 %84, label %85, label %114
85:                                               ; preds = %78
  %86 = load i32, ptr %73, align 4
  %87 = sext i32 %86 to i64
  %88 = getelementptr inbounds nuw i8, ptr %81, i64 16
  %89 = load i64, ptr %88, align 8
  %90 = icmp eq i64 %89, %87
  br i1 %90, label %91, label %114
91:                                               ; preds = %85
  %92 = load ptr, ptr %75, align 8
  %93 = load ptr, ptr %77, align 8
  %94 = icmp slt i32 %86, 1
  br i1 %94, label %117, label %95
95:                                               ; preds = %91
  %96 = getelementptr inbounds nuw i8, ptr %81, i64 48
  br label %100
97:                                               ; preds = %107
  %98 = add nuw nsw i64 %101, 1
  %99 = icmp eq i64 %98, %87
  br i1 %99, label %117, label %100
100:                                              ; preds = %97, %95
  %101 = phi i64 [ 0, %95 ], [ %98, %97 ]
  %102 = getelementptr inbounds nuw i64, ptr %92, i64 %101
  %103 = load i64, ptr %102, align 8
  %104 = getelementptr inbounds nuw [0 x i64], ptr %96, i64 0, i64 %101
  %105 = load i64, ptr %104, align 8
  %106 = icmp eq i64 %103, %105
  br i1 %106, label %107, label %114
107:                                              ; preds = %100
  %108 = getelementptr inbounds nuw i64, ptr %93, i64 %101
  %109 = load i64, ptr %108, align 8
  %110 = add nuw nsw i64 %101, %87
  %111 = getelementptr inbounds nuw [0 x i64], ptr %96, i64 0, i64 %110
  %112 = load i64, ptr %111, align 8
  %113 = icmp eq i64 %109, %112
  br i1 %113, label %97, label %114
114:                                              ; preds = %107, %100, %85, %78
  %115 = add nuw nsw i64 %79, 1
  %116 = icmp eq i64 %115, %65
  br i1 %116, label %146, label %78
117:                                              ; preds = %91, %97
  %118 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %119 = getelementptr inbounds i8, ptr %52, i64 %118
  %120 = load i64, ptr %119, align 8
  store i64 %120, ptr %54, align 8
  br label %158
121:                                              ; preds = %49
  %122 = load ptr, ptr %53, align 8
  %123 = icmp eq ptr %60, %122
  %124 = icmp ne ptr %60, null
  %125 = and i1 %124, %123
  br i1 %125, label %126, label %146
126:                                              ; preds = %121
  %127 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %128 = icmp eq ptr %60, %127
  br i1 %128, label %129, label %132
129:                                              ; preds = %126
  %130 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 160), align 8
  %131 = call double %130(ptr noundef nonnull %52) #11
  store double %131, ptr %57, align 8
  br label %142
132:                                              ; preds = %126
  %133 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %134 = call i64 %133(ptr noundef nonnull %52) #11
  store i64 %134, ptr %57, align 8
  %135 = icmp eq i64 %134, -1
  br i1 %135, label %136, label %142
136:                                              ; preds = %132
  %137 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 176), align 8
  %138 = call ptr %137() #11
  %139 = icmp eq ptr %138, null
  br i1 %139, label %142, label %140
140:                                              ; preds = %136
  %141 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %141() #11
  br label %146
142:                                              ; preds = %136, %132, %129
  %143 = ptrtoint ptr %57 to i64
  store i64 %143, ptr %54, align 8
  %144 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %145 = load ptr, ptr %144, align 8
  br label %158
146:                                              ; preds = %63, %121, %114, %140
  %147 = icmp eq i64 %50, 0
  br i1 %147, label %165, label %148
148:                                              ; preds = %146, %156
  %149 = phi i64 [ %150, %156 ], [ %50, %146 ]
  %150 = add nsw i64 %149, -1
  %151 = getelementptr inbounds %struct.value, ptr %39, i64 %150, i32 2
  %152 = load ptr, ptr %151, align 8
  %153 = icmp eq ptr %152, null
  br i1 %153, label %156, label %154
154:                                              ; preds = %148
  %155 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %155(ptr noundef nonnull %152) #11
  br label %156
156:                                              ; preds = %148, %154
  store ptr null, ptr %151, align 8
  %157 = icmp eq i64 %150, 0
  br i1 %157, label %165, label %148
158:                                              ; preds = %117, %142
  %159 = phi ptr [ %81, %117 ], [ %145, %142 ]
  %160 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  call void %160(ptr noundef nonnull %52) #11
  %161 = getelementptr inbounds nuw i8, ptr %54, i64 8
  store ptr %159, ptr %161, align 8
  %162 = getelementptr inbounds nuw i8, ptr %54, i64 16
  store ptr %52, ptr %162, align 8
  %163 = add nuw nsw i64 %50, 1
  %164 = icmp eq i64 %163, %2
  br i1 %164, label %170, label %49
165:                                              ; preds = %156, %146
  %166 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %167 = getelementptr inbounds nuw i8, ptr %15, i64 64
  %168 = load ptr, ptr %167, align 8
  call void %166(ptr noundef %168) #11
  %169 = load ptr, ptr %167, align 8
  br label %765
170:                                              ; preds = %158, %35
  %171 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %172 = load i64, ptr %171, align 8
  %173 = getelementptr inbounds i64, ptr %15, i64 %172
  %174 = load i64, ptr %173, align 8
  %175 = icmp sgt i64 %174, -1
  br i1 %175, label %176, label %187
176:                                              ; preds = %170, %176
  %177 = phi i64 [ %185, %176 ], [ %174, %170 ]
  %178 = phi ptr [ %184, %176 ], [ %173, %170 ]
  %179 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %177
  %180 = getelementptr inbounds nuw i8, ptr %178, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %179, ptr noundef nonnull align 8 dereferenceable(24) %180, i64 24, i1 false)
  %181 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %182 = getelementptr inbounds nuw i8, ptr %178, i64 24
  %183 = load ptr, ptr %182, align 8
  call void %181(ptr noundef %183) #11
  %184 = getelementptr inbounds nuw i8, ptr %178, i64 32
  %185 = load i64, ptr %184, align 8
  %186 = icmp sgt i64 %185, -1
  br i1 %186, label %176, label %187
187:                                              ; preds = %176, %170
  %188 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %189 = load i64, ptr %188, align 8
  %190 = add nsw i64 %189, 1
  store i64 %190, ptr %188, align 8
  %191 = getelementptr inbounds nuw i8, ptr %15, i64 32
  %192 = load i64, ptr %191, align 8
  %193 = getelementptr inbounds i64, ptr %15, i64 %192
  %194 = getelementptr inbounds nuw i8, ptr %15, i64 112
  br label %195
195:                                              ; preds = %600, %187
  %196 = phi ptr [ %193, %187 ], [ %601, %600 ]
  %197 = phi i64 [ 0, %187 ], [ %602, %600 ]
  %198 = load i64, ptr %196, align 8
  %199 = trunc i64 %198 to i32
  switch i32 %199, label %600 [
    i32 0, label %200
    i32 1, label %354
    i32 2, label %364
    i32 3, label %385
    i32 4, label %405
    i32 5, label %484
    i32 6, label %515
    i32 7, label %522
    i32 8, label %531
    i32 9, label %555
    i32 10, label %567
    i32 11, label %579
    i32 12, label %583
    i32 13, label %603
  ]
200:                                              ; preds = %195
  %201 = getelementptr inbounds nuw i8, ptr %196, i64 80
  %202 = getelementptr inbounds nuw i8, ptr %196, i64 48
  %203 = load i64, ptr %202, align 8
  %204 = getelementptr inbounds i64, ptr %201, i64 %203
  %205 = getelementptr inbounds nuw i8, ptr %196, i64 56
  %206 = load i64, ptr %205, align 8
  %207 = getelementptr inbounds i64, ptr %204, i64 %206
  %208 = getelementptr inbounds nuw i8, ptr %196, i64 32
  %209 = load ptr, ptr %208, align 8
  %210 = icmp eq ptr %209, null
  br i1 %210, label %339, label %211
211:                                              ; preds = %200
  %212 = getelementptr inbounds nuw i8, ptr %196, i64 64
  br label %213
213:                                              ; preds = %325, %211
  %214 = phi ptr [ %209, %211 ], [ %326, %325 ]
  %215 = getelementptr inbounds nuw i8, ptr %214, i64 48
  %216 = load ptr, ptr %215, align 8
  %217 = icmp eq ptr %216, null
  br i1 %217, label %286, label %218
218:                                              ; preds = %213
  %219 = load i64, ptr %207, align 8
  %220 = getelementptr inbounds i64, ptr %43, i64 %219
  %221 = load i64, ptr %220, align 8
  %222 = load i64, ptr %216, align 8
  %223 = icmp slt i64 %221, %222
  br i1 %223, label %325, label %224
224:                                              ; preds = %218
  %225 = getelementptr inbounds nuw i8, ptr %216, i64 8
  %226 = load i64, ptr %225, align 8
  %227 = icmp sgt i64 %221, %226
  br i1 %227, label %325, label %228
228:                                              ; preds = %224
  %229 = getelementptr inbounds nuw i8, ptr %216, i64 16
  %230 = load i64, ptr %229, align 8
  %231 = icmp eq i64 %221, %230
  br i1 %231, label %283, label %232
232:                                              ; preds = %228
  %233 = getelementptr inbounds nuw i8, ptr %216, i64 24
  %234 = getelementptr inbounds nuw i8, ptr %216, i64 32
  br label %235
235:                                              ; preds = %276, %232
  %236 = phi i64 [ 0, %232 ], [ %280, %276 ]
  %237 = load i64, ptr %233, align 8
  %238 = icmp slt i64 %236, %237
  br i1 %238, label %239, label %283
239:                                              ; preds = %235
  %240 = getelementptr inbounds nuw %struct.change, ptr %234, i64 %236
  %241 = getelementptr inbounds nuw i8, ptr %240, i64 16
  %242 = load i64, ptr %241, align 8
  %243 = getelementptr inbounds nuw i8, ptr %240, i64 24
  %244 = load i64, ptr %243, align 8
  %245 = mul nsw i64 %244, %221
  %246 = add nsw i64 %245, %242
  %247 = getelementptr inbounds nuw i8, ptr %240, i64 8
  %248 = load ptr, ptr %247, align 8
  %249 = icmp eq ptr %248, null
  br i1 %249, label %276, label %250
250:                                              ; preds = %239
  %251 = getelementptr inbounds nuw i8, ptr %248, i64 8
  %252 = getelementptr inbounds [0 x i64], ptr %251, i64 0, i64 %246
  %253 = load i64, ptr %252, align 8
  %254 = icmp eq i64 %253, 0
  br i1 %254, label %255, label %276
255:                                              ; preds = %250
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #12
  %256 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %257 = call ptr %256(i64 noundef %246) #11
  store ptr %257, ptr %9, align 8
  %258 = icmp eq ptr %257, null
  br i1 %258, label %269, label %259
259:                                              ; preds = %255
  %260 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %261 = load ptr, ptr %248, align 8
  %262 = call ptr %260(ptr noundef %261, ptr noundef nonnull %9, i64 noundef 1, ptr noundef null) #11
  %263 = load ptr, ptr %9, align 8
  %264 = icmp eq ptr %263, null
  br i1 %264, label %267, label %265
265:                                              ; preds = %259
  %266 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %266(ptr noundef nonnull %263) #11
  br label %267
267:                                              ; preds = %265, %259
  %268 = icmp eq ptr %262, null
  br i1 %268, label %269, label %270
269:                                              ; preds = %267, %255
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #12
  br label %284
270:                                              ; preds = %267
  %271 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %272 = call i64 %271(ptr noundef nonnull %262) #11
  store i64 %272, ptr %252, align 8
  %273 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %273(ptr noundef nonnull %262) #11
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #12
  %274 = load i64, ptr %252, align 8
  %275 = icmp eq i64 %274, 0
  br i1 %275, label %284, label %276
276:                                              ; preds = %270, %250, %239
  %277 = phi i64 [ %274, %270 ], [ %246, %239 ], [ %253, %250 ]
  %278 = load i64, ptr %240, align 8
  %279 = getelementptr inbounds i64, ptr %214, i64 %278
  store i64 %277, ptr %279, align 8
  %280 = add nuw nsw i64 %236, 1
  %281 = load i64, ptr %229, align 8
  %282 = icmp eq i64 %221, %281
  br i1 %282, label %283, label %235
283:                                              ; preds = %276, %235, %228
  store i64 %221, ptr %229, align 8
  br label %286
284:                                              ; preds = %270, %269
  %285 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %285() #11
  store i64 -1, ptr %229, align 8
  br label %325
286:                                              ; preds = %283, %213
  %287 = load i64, ptr %202, align 8
  %288 = icmp sgt i64 %287, 0
  br i1 %288, label %289, label %291
289:                                              ; preds = %286
  %290 = getelementptr inbounds nuw i8, ptr %214, i64 88
  br label %296
291:                                              ; preds = %306, %286
  %292 = phi i64 [ 0, %286 ], [ %287, %306 ]
  %293 = getelementptr inbounds nuw i8, ptr %214, i64 88
  %294 = load i64, ptr %212, align 8
  %295 = icmp sgt i64 %294, 0
  br i1 %295, label %309, label %322
296:                                              ; preds = %306, %289
  %297 = phi i64 [ 0, %289 ], [ %307, %306 ]
  %298 = getelementptr inbounds nuw [0 x i64], ptr %290, i64 0, i64 %297
  %299 = load i64, ptr %298, align 8
  %300 = getelementptr inbounds nuw i64, ptr %201, i64 %297
  %301 = load i64, ptr %300, align 8
  %302 = getelementptr inbounds %struct.value, ptr %39, i64 %301, i32 1
  %303 = load ptr, ptr %302, align 8
  %304 = ptrtoint ptr %303 to i64
  %305 = icmp eq i64 %299, %304
  br i1 %305, label %306, label %325
306:                                              ; preds = %296
  %307 = add nuw nsw i64 %297, 1
  %308 = icmp eq i64 %307, %287
  br i1 %308, label %291, label %296
309:                                              ; preds = %291, %319
  %310 = phi i64 [ %320, %319 ], [ 0, %291 ]
  %311 = add nuw nsw i64 %310, %292
  %312 = getelementptr inbounds nuw [0 x i64], ptr %293, i64 0, i64 %311
  %313 = load i64, ptr %312, align 8
  %314 = getelementptr inbounds nuw i64, ptr %207, i64 %310
  %315 = load i64, ptr %314, align 8
  %316 = getelementptr inbounds i64, ptr %43, i64 %315
  %317 = load i64, ptr %316, align 8
  %318 = icmp eq i64 %313, %317
  br i1 %318, label %319, label %322
319:                                              ; preds = %309
  %320 = add nuw nsw i64 %310, 1
  %321 = icmp eq i64 %320, %294
  br i1 %321, label %328, label %309
322:                                              ; preds = %309, %291
  %323 = phi i64 [ 0, %291 ], [ %310, %309 ]
  %324 = icmp eq i64 %323, %294
  br i1 %324, label %328, label %325
325:                                              ; preds = %296, %322, %284, %224, %218
  %326 = load ptr, ptr %214, align 8
  %327 = icmp eq ptr %326, null
  br i1 %327, label %339, label %213
328:                                              ; preds = %322, %319
  %329 = getelementptr inbounds nuw i8, ptr %214, i64 16
  %330 = load ptr, ptr %329, align 8
  %331 = icmp eq ptr %330, null
  br i1 %331, label %334, label %332
332:                                              ; preds = %328
  %333 = call fastcc i32 @call_routine(ptr noundef nonnull readonly %15, ptr noundef %196, ptr noundef %214, ptr noundef nonnull %39) #13
  br label %336
334:                                              ; preds = %328
  %335 = call fastcc i32 @follow(ptr noundef nonnull readonly %15, ptr noundef %196, ptr noundef %214, ptr noundef nonnull %39, ptr noundef nonnull %43) #13
  br label %336
336:                                              ; preds = %334, %332
  %337 = phi i32 [ %333, %332 ], [ %335, %334 ]
  %338 = icmp eq i32 %337, 0
  br i1 %338, label %339, label %341
339:                                              ; preds = %325, %336, %200
  %340 = call fastcc i32 @asked(ptr noundef nonnull readonly %15, ptr noundef %196, ptr noundef nonnull %39, ptr noundef nonnull %43) #13
  br label %341
341:                                              ; preds = %339, %336
  %342 = phi i32 [ %337, %336 ], [ %340, %339 ]
  %343 = icmp sgt i32 %342, -1
  br i1 %343, label %344, label %683
344:                                              ; preds = %341
  %345 = icmp eq i32 %342, 1
  br i1 %345, label %346, label %350
346:                                              ; preds = %344
  %347 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %348 = load i64, ptr %347, align 8
  %349 = getelementptr inbounds i64, ptr %15, i64 %348
  br label %600
350:                                              ; preds = %344
  %351 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %352 = load i64, ptr %351, align 8
  %353 = getelementptr inbounds i64, ptr %196, i64 %352
  br label %600
354:                                              ; preds = %195
  %355 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %356 = load i64, ptr %355, align 8
  %357 = getelementptr inbounds %struct.value, ptr %39, i64 %356, i32 2
  %358 = load ptr, ptr %357, align 8
  %359 = icmp eq ptr %358, null
  br i1 %359, label %362, label %360
360:                                              ; preds = %354
  %361 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %361(ptr noundef nonnull %358) #11
  br label %362
362:                                              ; preds = %360, %354
  store ptr null, ptr %357, align 8
  %363 = getelementptr inbounds nuw i8, ptr %196, i64 16
  br label %600
364:                                              ; preds = %195
  %365 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %366 = load i64, ptr %365, align 8
  %367 = getelementptr inbounds %struct.value, ptr %39, i64 %366
  %368 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %369 = getelementptr inbounds nuw i8, ptr %367, i64 16
  %370 = load ptr, ptr %369, align 8
  call void %368(ptr noundef %370) #11
  %371 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %372 = load i64, ptr %371, align 8
  %373 = getelementptr inbounds %struct.value, ptr %39, i64 %372
  %374 = load i64, ptr %367, align 8
  %375 = getelementptr inbounds nuw i8, ptr %367, i64 8
  %376 = load ptr, ptr %375, align 8
  %377 = getelementptr inbounds nuw i8, ptr %373, i64 16
  %378 = load ptr, ptr %377, align 8
  %379 = icmp eq ptr %378, null
  br i1 %379, label %382, label %380
380:                                              ; preds = %364
  %381 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %381(ptr noundef nonnull %378) #11
  br label %382
382:                                              ; preds = %380, %364
  store i64 %374, ptr %373, align 8
  %383 = getelementptr inbounds nuw i8, ptr %373, i64 8
  store ptr %376, ptr %383, align 8
  store ptr %370, ptr %377, align 8
  %384 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
385:                                              ; preds = %195
  %386 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %387 = load i64, ptr %386, align 8
  %388 = getelementptr inbounds %struct.value, ptr %39, i64 %387
  %389 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %390 = load i64, ptr %389, align 8
  %391 = getelementptr inbounds %struct.value, ptr %39, i64 %390
  %392 = load i64, ptr %388, align 8
  %393 = getelementptr inbounds nuw i8, ptr %388, i64 8
  %394 = load ptr, ptr %393, align 8
  %395 = getelementptr inbounds nuw i8, ptr %388, i64 16
  %396 = load ptr, ptr %395, align 8
  %397 = getelementptr inbounds nuw i8, ptr %391, i64 16
  %398 = load ptr, ptr %397, align 8
  %399 = icmp eq ptr %398, null
  br i1 %399, label %402, label %400
400:                                              ; preds = %385
  %401 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %401(ptr noundef nonnull %398) #11
  br label %402
402:                                              ; preds = %400, %385
  store i64 %392, ptr %391, align 8
  %403 = getelementptr inbounds nuw i8, ptr %391, i64 8
  store ptr %394, ptr %403, align 8
  store ptr %396, ptr %397, align 8
  store ptr null, ptr %395, align 8
  %404 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
405:                                              ; preds = %195
  %406 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %407 = load i64, ptr %406, align 8
  %408 = getelementptr inbounds %struct.value, ptr %39, i64 %407
  %409 = getelementptr inbounds nuw i8, ptr %408, i64 8
  %410 = load ptr, ptr %409, align 8
  %411 = load i64, ptr %408, align 8
  %412 = getelementptr inbounds nuw i8, ptr %196, i64 24
  %413 = load i64, ptr %412, align 8
  %414 = getelementptr inbounds i64, ptr %43, i64 %413
  %415 = load i64, ptr %414, align 8
  %416 = getelementptr inbounds nuw i8, ptr %196, i64 40
  %417 = load i64, ptr %416, align 8
  %418 = ptrtoint ptr %410 to i64
  %419 = icmp eq i64 %417, %418
  br i1 %419, label %441, label %420
420:                                              ; preds = %405
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #12
  %421 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %422 = call ptr %421(i64 noundef %418) #11
  store ptr %422, ptr %8, align 8
  %423 = icmp eq ptr %422, null
  br i1 %423, label %480, label %424
424:                                              ; preds = %420
  %425 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %426 = getelementptr inbounds nuw i8, ptr %196, i64 56
  %427 = load i64, ptr %426, align 8
  %428 = inttoptr i64 %427 to ptr
  %429 = call ptr %425(ptr noundef %428, ptr noundef nonnull %8, i64 noundef 1, ptr noundef null) #11
  %430 = load ptr, ptr %8, align 8
  %431 = icmp eq ptr %430, null
  br i1 %431, label %434, label %432
432:                                              ; preds = %424
  %433 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %433(ptr noundef nonnull %430) #11
  br label %434
434:                                              ; preds = %432, %424
  %435 = icmp eq ptr %429, null
  br i1 %435, label %480, label %436
436:                                              ; preds = %434
  store i64 %418, ptr %416, align 8
  %437 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %438 = call i64 %437(ptr noundef nonnull %429) #11
  %439 = getelementptr inbounds nuw i8, ptr %196, i64 48
  store i64 %438, ptr %439, align 8
  %440 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %440(ptr noundef nonnull %429) #11
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #12
  br label %441
441:                                              ; preds = %436, %405
  %442 = getelementptr inbounds nuw i8, ptr %196, i64 32
  %443 = load i64, ptr %442, align 8
  %444 = icmp sgt i64 %443, 0
  br i1 %444, label %445, label %449
445:                                              ; preds = %441
  %446 = getelementptr inbounds nuw i8, ptr %410, i64 48
  %447 = getelementptr inbounds nuw i8, ptr %410, i64 16
  %448 = load i64, ptr %447, align 8
  br label %465
449:                                              ; preds = %465, %441
  %450 = phi i64 [ %411, %441 ], [ %477, %465 ]
  %451 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %452 = getelementptr inbounds nuw i8, ptr %408, i64 16
  %453 = load ptr, ptr %452, align 8
  call void %451(ptr noundef %453) #11
  %454 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %455 = load i64, ptr %454, align 8
  %456 = getelementptr inbounds %struct.value, ptr %39, i64 %455
  %457 = getelementptr inbounds nuw i8, ptr %196, i64 48
  %458 = load i64, ptr %457, align 8
  %459 = inttoptr i64 %458 to ptr
  %460 = getelementptr inbounds nuw i8, ptr %456, i64 16
  %461 = load ptr, ptr %460, align 8
  %462 = icmp eq ptr %461, null
  br i1 %462, label %481, label %463
463:                                              ; preds = %449
  %464 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %464(ptr noundef nonnull %461) #11
  br label %481
465:                                              ; preds = %465, %445
  %466 = phi i64 [ %443, %445 ], [ %469, %465 ]
  %467 = phi i64 [ %415, %445 ], [ %478, %465 ]
  %468 = phi i64 [ %411, %445 ], [ %477, %465 ]
  %469 = add nsw i64 %466, -1
  %470 = getelementptr inbounds nuw [0 x i64], ptr %446, i64 0, i64 %469
  %471 = load i64, ptr %470, align 8
  %472 = srem i64 %467, %471
  %473 = add nsw i64 %469, %448
  %474 = getelementptr inbounds [0 x i64], ptr %446, i64 0, i64 %473
  %475 = load i64, ptr %474, align 8
  %476 = mul nsw i64 %475, %472
  %477 = add nsw i64 %476, %468
  %478 = sdiv i64 %467, %471
  %479 = icmp samesign ugt i64 %466, 1
  br i1 %479, label %465, label %449
480:                                              ; preds = %434, %420
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #12
  br label %683
481:                                              ; preds = %463, %449
  store i64 %450, ptr %456, align 8
  %482 = getelementptr inbounds nuw i8, ptr %456, i64 8
  store ptr %459, ptr %482, align 8
  store ptr %453, ptr %460, align 8
  %483 = getelementptr inbounds nuw i8, ptr %196, i64 64
  br label %600
484:                                              ; preds = %195
  %485 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %486 = load i64, ptr %485, align 8
  %487 = getelementptr inbounds %struct.value, ptr %39, i64 %486
  %488 = getelementptr inbounds nuw i8, ptr %487, i64 8
  %489 = load ptr, ptr %488, align 8
  %490 = getelementptr inbounds nuw i8, ptr %489, i64 32
  %491 = load i64, ptr %490, align 8
  %492 = getelementptr inbounds nuw i8, ptr %489, i64 24
  %493 = load i64, ptr %492, align 8
  %494 = mul nsw i64 %493, %491
  %495 = icmp eq i64 %494, 0
  br i1 %495, label %513, label %496
496:                                              ; preds = %484
  %497 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %498 = load i64, ptr %497, align 8
  %499 = getelementptr inbounds %struct.value, ptr %39, i64 %498
  %500 = load i64, ptr %499, align 8
  %501 = inttoptr i64 %500 to ptr
  %502 = getelementptr inbounds nuw i8, ptr %196, i64 24
  %503 = load i64, ptr %502, align 8
  %504 = getelementptr inbounds i64, ptr %43, i64 %503
  %505 = load i64, ptr %504, align 8
  %506 = getelementptr inbounds nuw i8, ptr %196, i64 32
  %507 = load i64, ptr %506, align 8
  %508 = add nsw i64 %507, %505
  %509 = mul nsw i64 %508, %494
  %510 = getelementptr inbounds i8, ptr %501, i64 %509
  %511 = load i64, ptr %487, align 8
  %512 = inttoptr i64 %511 to ptr
  call fastcc void @copy_items(ptr noundef %510, ptr noundef %512, ptr noundef nonnull %489, i64 noundef 0) #13
  br label %513
513:                                              ; preds = %496, %484
  %514 = getelementptr inbounds nuw i8, ptr %196, i64 40
  br label %600
515:                                              ; preds = %195
  %516 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %517 = load i64, ptr %516, align 8
  %518 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %519 = load i64, ptr %518, align 8
  %520 = getelementptr inbounds i64, ptr %43, i64 %519
  store i64 %517, ptr %520, align 8
  %521 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
522:                                              ; preds = %195
  %523 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %524 = load i64, ptr %523, align 8
  %525 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %526 = load i64, ptr %525, align 8
  %527 = getelementptr inbounds i64, ptr %43, i64 %526
  %528 = load i64, ptr %527, align 8
  %529 = add nsw i64 %528, %524
  store i64 %529, ptr %527, align 8
  %530 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
531:                                              ; preds = %195
  %532 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %533 = load i64, ptr %532, align 8
  %534 = getelementptr inbounds %struct.value, ptr %39, i64 %533
  %535 = getelementptr inbounds nuw i8, ptr %534, i64 8
  %536 = load ptr, ptr %535, align 8
  %537 = getelementptr inbounds nuw i8, ptr %536, i64 24
  %538 = load i64, ptr %537, align 8
  %539 = load i64, ptr %534, align 8
  %540 = inttoptr i64 %539 to ptr
  switch i64 %538, label %547 [
    i64 1, label %541
    i64 4, label %544
  ]
541:                                              ; preds = %531
  %542 = load i8, ptr %540, align 1
  %543 = zext i8 %542 to i64
  br label %549
544:                                              ; preds = %531
  %545 = load i32, ptr %540, align 1
  %546 = sext i32 %545 to i64
  br label %549
547:                                              ; preds = %531
  %548 = load i64, ptr %540, align 1
  br label %549
549:                                              ; preds = %547, %544, %541
  %550 = phi i64 [ %543, %541 ], [ %546, %544 ], [ %548, %547 ]
  %551 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %552 = load i64, ptr %551, align 8
  %553 = getelementptr inbounds i64, ptr %43, i64 %552
  store i64 %550, ptr %553, align 8
  %554 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
555:                                              ; preds = %195
  %556 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %557 = load i64, ptr %556, align 8
  %558 = icmp eq i64 %557, 0
  br i1 %558, label %562, label %559
559:                                              ; preds = %555
  %560 = call fastcc i32 @evaluated(ptr noundef nonnull %196, ptr noundef nonnull %43) #13
  %561 = icmp eq i32 %560, 0
  br i1 %561, label %683, label %562
562:                                              ; preds = %559, %555
  %563 = getelementptr inbounds nuw i8, ptr %196, i64 24
  %564 = load i64, ptr %563, align 8
  %565 = getelementptr i64, ptr %196, i64 %564
  %566 = getelementptr i8, ptr %565, i64 32
  br label %600
567:                                              ; preds = %195
  %568 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %569 = load i64, ptr %568, align 8
  %570 = getelementptr inbounds i64, ptr %43, i64 %569
  %571 = load i64, ptr %570, align 8
  %572 = icmp eq i64 %571, 0
  br i1 %572, label %575, label %573
573:                                              ; preds = %567
  %574 = getelementptr inbounds nuw i8, ptr %196, i64 24
  br label %600
575:                                              ; preds = %567
  %576 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %577 = load i64, ptr %576, align 8
  %578 = getelementptr inbounds i64, ptr %15, i64 %577
  br label %600
579:                                              ; preds = %195
  %580 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %581 = load i64, ptr %580, align 8
  %582 = getelementptr inbounds i64, ptr %15, i64 %581
  br label %600
583:                                              ; preds = %195
  %584 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 216), align 8
  %585 = call i32 %584() #11
  %586 = icmp eq i32 %585, 0
  br i1 %586, label %587, label %683
587:                                              ; preds = %583
  %588 = add nsw i64 %197, 1
  %589 = and i64 %588, 15
  %590 = icmp eq i64 %589, 0
  br i1 %590, label %591, label %598
591:                                              ; preds = %587
  %592 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %593 = load ptr, ptr %194, align 8
  %594 = call ptr %592(ptr noundef %593, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  %595 = icmp eq ptr %594, null
  br i1 %595, label %683, label %596
596:                                              ; preds = %591
  %597 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %597(ptr noundef nonnull %594) #11
  br label %598
598:                                              ; preds = %596, %587
  %599 = getelementptr inbounds nuw i8, ptr %196, i64 8
  br label %600
600:                                              ; preds = %598, %579, %575, %573, %562, %549, %522, %515, %513, %481, %402, %382, %362, %350, %346, %195
  %601 = phi ptr [ %196, %195 ], [ %599, %598 ], [ %582, %579 ], [ %566, %562 ], [ %554, %549 ], [ %530, %522 ], [ %521, %515 ], [ %514, %513 ], [ %483, %481 ], [ %404, %402 ], [ %384, %382 ], [ %363, %362 ], [ %349, %346 ], [ %353, %350 ], [ %574, %573 ], [ %578, %575 ]
  %602 = phi i64 [ %197, %195 ], [ %588, %598 ], [ %197, %579 ], [ %197, %562 ], [ %197, %549 ], [ %197, %522 ], [ %197, %515 ], [ %197, %513 ], [ %197, %481 ], [ %197, %402 ], [ %197, %382 ], [ %197, %362 ], [ %197, %346 ], [ %197, %350 ], [ %197, %573 ], [ %197, %575 ]
  br label %195
603:                                              ; preds = %195
  %604 = getelementptr inbounds nuw i8, ptr %196, i64 8
  %605 = load i64, ptr %604, align 8
  %606 = load i64, ptr %36, align 8
  %607 = icmp sgt i64 %606, 0
  br i1 %607, label %608, label %615
608:                                              ; preds = %603
  %609 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %610 = icmp sgt i64 %605, 0
  br label %611
611:                                              ; preds = %637, %608
  %612 = phi i64 [ %606, %608 ], [ %638, %637 ]
  %613 = phi i64 [ %606, %608 ], [ %639, %637 ]
  %614 = phi i64 [ 0, %608 ], [ %640, %637 ]
  br i1 %610, label %617, label %625
615:                                              ; preds = %637, %603
  %616 = icmp eq i64 %605, 1
  br i1 %616, label %642, label %647
617:                                              ; preds = %611, %622
  %618 = phi i64 [ %623, %622 ], [ 0, %611 ]
  %619 = getelementptr inbounds nuw i64, ptr %609, i64 %618
  %620 = load i64, ptr %619, align 8
  %621 = icmp eq i64 %620, %614
  br i1 %621, label %625, label %622
622:                                              ; preds = %617
  %623 = add nuw nsw i64 %618, 1
  %624 = icmp eq i64 %623, %605
  br i1 %624, label %628, label %617
625:                                              ; preds = %617, %611
  %626 = phi i64 [ 0, %611 ], [ %618, %617 ]
  %627 = icmp eq i64 %626, %605
  br i1 %627, label %628, label %637
628:                                              ; preds = %622, %625
  %629 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %614, i32 2
  %630 = load ptr, ptr %629, align 8
  %631 = icmp eq ptr %630, null
  br i1 %631, label %635, label %632
632:                                              ; preds = %628
  %633 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %633(ptr noundef nonnull %630) #11
  %634 = load i64, ptr %36, align 8
  br label %635
635:                                              ; preds = %632, %628
  %636 = phi i64 [ %634, %632 ], [ %612, %628 ]
  store ptr null, ptr %629, align 8
  br label %637
637:                                              ; preds = %635, %625
  %638 = phi i64 [ %612, %625 ], [ %636, %635 ]
  %639 = phi i64 [ %613, %625 ], [ %636, %635 ]
  %640 = add nuw nsw i64 %614, 1
  %641 = icmp slt i64 %640, %639
  br i1 %641, label %611, label %615
642:                                              ; preds = %615
  %643 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %644 = load i64, ptr %643, align 8
  %645 = getelementptr inbounds %struct.value, ptr %39, i64 %644
  %646 = call fastcc ptr @given_away(ptr noundef nonnull readonly %15, ptr noundef %645) #13
  br label %683
647:                                              ; preds = %615
  %648 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %649 = call ptr %648(i64 noundef %605) #11
  %650 = icmp eq ptr %649, null
  %651 = getelementptr inbounds nuw i8, ptr %196, i64 16
  %652 = icmp slt i64 %605, 1
  %653 = select i1 %650, i1 true, i1 %652
  br i1 %653, label %683, label %654
654:                                              ; preds = %647, %679
  %655 = phi i64 [ %656, %679 ], [ 0, %647 ]
  %656 = add nuw nsw i64 %655, 1
  %657 = icmp slt i64 %656, %605
  %658 = getelementptr inbounds nuw i64, ptr %651, i64 %655
  %659 = load i64, ptr %658, align 8
  br i1 %657, label %663, label %671
660:                                              ; preds = %663
  %661 = add nuw i64 %664, 1
  %662 = icmp eq i64 %661, %605
  br i1 %662, label %671, label %663
663:                                              ; preds = %654, %660
  %664 = phi i64 [ %661, %660 ], [ %656, %654 ]
  %665 = getelementptr inbounds nuw i64, ptr %651, i64 %664
  %666 = load i64, ptr %665, align 8
  %667 = icmp eq i64 %666, %659
  br i1 %667, label %668, label %660
668:                                              ; preds = %663
  %669 = getelementptr inbounds %struct.value, ptr %39, i64 %659
  %670 = call fastcc ptr @copied(ptr noundef nonnull readonly %15, ptr noundef %669) #13
  br label %674
671:                                              ; preds = %660, %654
  %672 = getelementptr inbounds %struct.value, ptr %39, i64 %659
  %673 = call fastcc ptr @given_away(ptr noundef nonnull readonly %15, ptr noundef %672) #13
  br label %674
674:                                              ; preds = %671, %668
  %675 = phi ptr [ %670, %668 ], [ %673, %671 ]
  %676 = icmp eq ptr %675, null
  br i1 %676, label %677, label %679
677:                                              ; preds = %674
  %678 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %678(ptr noundef nonnull %649) #11
  br label %683
679:                                              ; preds = %674
  %680 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %681 = call i32 %680(ptr noundef %649, i64 noundef %655, ptr noundef nonnull %675) #11
  %682 = icmp eq i64 %656, %605
  br i1 %682, label %683, label %654
683:                                              ; preds = %341, %559, %583, %591, %679, %480, %642, %647, %677
  %684 = phi ptr [ null, %480 ], [ %646, %642 ], [ null, %677 ], [ %649, %647 ], [ %649, %679 ], [ null, %591 ], [ null, %583 ], [ null, %559 ], [ null, %341 ]
  %685 = load i64, ptr %188, align 8
  %686 = add nsw i64 %685, -1
  store i64 %686, ptr %188, align 8
  %687 = load i64, ptr %36, align 8
  %688 = icmp sgt i64 %687, 0
  br i1 %688, label %691, label %689
689:                                              ; preds = %700, %683
  %690 = icmp eq ptr %684, null
  br i1 %690, label %704, label %765
691:                                              ; preds = %683, %700
  %692 = phi i64 [ %701, %700 ], [ %687, %683 ]
  %693 = phi i64 [ %702, %700 ], [ 0, %683 ]
  %694 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %693, i32 2
  %695 = load ptr, ptr %694, align 8
  %696 = icmp eq ptr %695, null
  br i1 %696, label %700, label %697
697:                                              ; preds = %691
  %698 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %698(ptr noundef nonnull %695) #11
  %699 = load i64, ptr %36, align 8
  br label %700
700:                                              ; preds = %691, %697
  %701 = phi i64 [ %692, %691 ], [ %699, %697 ]
  store ptr null, ptr %694, align 8
  %702 = add nuw nsw i64 %693, 1
  %703 = icmp slt i64 %702, %701
  br i1 %703, label %691, label %689
704:                                              ; preds = %689
  %705 = ptrtoint ptr %196 to i64
  %706 = ptrtoint ptr %15 to i64
  %707 = sub i64 %705, %706
  %708 = ashr exact i64 %707, 3
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #12
  store ptr null, ptr %4, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #12
  store ptr null, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #12
  store ptr null, ptr %6, align 8
  %709 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  call void %709(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6) #11
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %7) #12
  %710 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %711 = call ptr %710(i64 noundef range(i64 -1152921504606846976, 1152921504606846976) %708) #11
  store ptr %711, ptr %7, align 16
  %712 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %713 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %714 = ptrtoint ptr %43 to i64
  %715 = call ptr %713(i64 noundef %714) #11
  store ptr %715, ptr %712, align 8
  %716 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %717 = load ptr, ptr %5, align 8
  %718 = icmp eq ptr %717, null
  %719 = load ptr, ptr %4, align 8
  %720 = select i1 %718, ptr %719, ptr %717
  store ptr %720, ptr %716, align 16
  %721 = icmp ne ptr %711, null
  %722 = icmp ne ptr %715, null
  %723 = select i1 %721, i1 %722, i1 false
  br i1 %723, label %724, label %730
724:                                              ; preds = %704
  %725 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %726 = getelementptr inbounds nuw i8, ptr %15, i64 104
  %727 = load ptr, ptr %726, align 8
  %728 = call ptr %725(ptr noundef %727, ptr noundef nonnull %7, i64 noundef 3, ptr noundef null) #11
  %729 = load ptr, ptr %7, align 16
  br label %730
730:                                              ; preds = %724, %704
  %731 = phi ptr [ %729, %724 ], [ %711, %704 ]
  %732 = phi ptr [ %728, %724 ], [ null, %704 ]
  %733 = icmp eq ptr %731, null
  br i1 %733, label %736, label %734
734:                                              ; preds = %730
  %735 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %735(ptr noundef nonnull %731) #11
  br label %736
736:                                              ; preds = %734, %730
  %737 = load ptr, ptr %712, align 8
  %738 = icmp eq ptr %737, null
  br i1 %738, label %741, label %739
739:                                              ; preds = %736
  %740 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %740(ptr noundef nonnull %737) #11
  br label %741
741:                                              ; preds = %739, %736
  %742 = icmp eq ptr %732, null
  br i1 %742, label %749, label %743
743:                                              ; preds = %741
  %744 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %744(ptr noundef nonnull %732) #11
  %745 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %746 = load ptr, ptr %4, align 8
  %747 = load ptr, ptr %5, align 8
  %748 = load ptr, ptr %6, align 8
  call void %745(ptr noundef %746, ptr noundef %747, ptr noundef %748) #11
  br label %764
749:                                              ; preds = %741
  %750 = load ptr, ptr %4, align 8
  %751 = load ptr, ptr %5, align 8
  %752 = load ptr, ptr %6, align 8
  %753 = icmp eq ptr %750, null
  br i1 %753, label %756, label %754
754:                                              ; preds = %749
  %755 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %755(ptr noundef nonnull %750) #11
  br label %756
756:                                              ; preds = %754, %749
  %757 = icmp eq ptr %751, null
  br i1 %757, label %760, label %758
758:                                              ; preds = %756
  %759 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %759(ptr noundef nonnull %751) #11
  br label %760
760:                                              ; preds = %758, %756
  %761 = icmp eq ptr %752, null
  br i1 %761, label %764, label %762
762:                                              ; preds = %760
  %763 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %763(ptr noundef nonnull %752) #11
  br label %764
764:                                              ; preds = %743, %760, %762
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %7) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #12
  br label %765
765:                                              ; preds = %165, %764, %689
  %766 = phi ptr [ %169, %165 ], [ null, %764 ], [ %684, %689 ]
  call void @llvm.stackrestore.p0(ptr %38)
  br label %767
767:                                              ; preds = %765, %30
  %768 = phi ptr [ %34, %30 ], [ %766, %765 ]
  ret ptr %768
}
define internal noundef ptr @renew() #2 {
  %1 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 48), align 8
  %2 = tail call ptr %1(i64 noundef 896) #11
  %3 = icmp eq ptr %2, null
  br i1 %3, label %15, label %4
4:                                                ; preds = %0
  %5 = ptrtoint ptr %2 to i64
  %6 = add nsw i64 %5, 127
  %7 = and i64 %6, -128
  %8 = inttoptr i64 %7 to ptr
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(768) %8, i8 0, i64 768, i1 false)
  %9 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %10 = getelementptr inbounds nuw i8, ptr %8, i64 320
  %11 = tail call i32 %9(ptr noundef nonnull %10, ptr noundef null) #11
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 88), align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 448
  %14 = tail call i32 %12(ptr noundef nonnull %13, ptr noundef null) #11
  store ptr %8, ptr @pool, align 8
  br label %15
15:                                               ; preds = %0, %4
  %16 = phi ptr [ %8, %4 ], [ null, %0 ]
  ret ptr %16
}
define internal nonnull ptr @alone() #3 {
  %1 = load ptr, ptr @pool, align 8
  %2 = getelementptr inbounds nuw i8, ptr %1, i64 8
  ret ptr %2
}
define internal range(i64 0, 2) i64 @product(ptr nocapture noundef readonly %0) #2 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %3 = load i64, ptr %2, align 8
  %4 = inttoptr i64 %3 to ptr
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %6 = load i64, ptr %5, align 8
  %7 = inttoptr i64 %6 to ptr
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %9 = load i64, ptr %8, align 8
  %10 = inttoptr i64 %9 to ptr
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %20, label %14
14:                                               ; preds = %1
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %18 = load i64, ptr %17, align 8
  %19 = icmp eq i64 %16, %18
  br i1 %19, label %104, label %20
20:                                               ; preds = %14, %1
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %22 = load i64, ptr %21, align 8
  %23 = icmp sgt i64 %22, 0
  br i1 %23, label %24, label %104
24:                                               ; preds = %20
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 96
  br label %37
37:                                               ; preds = %24, %95
  %38 = phi i64 [ %22, %24 ], [ %102, %95 ]
  %39 = phi ptr [ %10, %24 ], [ %101, %95 ]
  %40 = phi ptr [ %7, %24 ], [ %99, %95 ]
  %41 = phi ptr [ %4, %24 ], [ %97, %95 ]
  %42 = load i64, ptr %25, align 8
  switch i64 %42, label %95 [
    i64 0, label %43
    i64 1, label %56
    i64 2, label %69
    i64 3, label %82
  ]
43:                                               ; preds = %37
  %44 = load i64, ptr %26, align 8
  %45 = inttoptr i64 %44 to ptr
  %46 = load i64, ptr %0, align 8
  %47 = trunc i64 %46 to i32
  %48 = load i64, ptr %27, align 8
  %49 = trunc i64 %48 to i32
  %50 = load i64, ptr %28, align 8
  %51 = load i64, ptr %29, align 8
  %52 = load i64, ptr %30, align 8
  %53 = load i64, ptr %31, align 8
  %54 = load i64, ptr %32, align 8
  %55 = load i64, ptr %33, align 8
  tail call void %45(i32 noundef 101, i32 noundef %47, i32 noundef %49, i64 noundef %50, i64 noundef %51, i64 noundef %52, float noundef 1.000000e+00, ptr noundef %41, i64 noundef %53, ptr noundef %40, i64 noundef %54, float noundef 0.000000e+00, ptr noundef %39, i64 noundef %55) #11
  br label %95
56:                                               ; preds = %37
  %57 = load i64, ptr %26, align 8
  %58 = inttoptr i64 %57 to ptr
  %59 = load i64, ptr %0, align 8
  %60 = trunc i64 %59 to i32
  %61 = load i64, ptr %27, align 8
  %62 = trunc i64 %61 to i32
  %63 = load i64, ptr %28, align 8
  %64 = load i64, ptr %29, align 8
  %65 = load i64, ptr %30, align 8
  %66 = load i64, ptr %31, align 8
  %67 = load i64, ptr %32, align 8
  %68 = load i64, ptr %33, align 8
  tail call void %58(i32 noundef 101, i32 noundef %60, i32 noundef %62, i64 noundef %63, i64 noundef %64, i64 noundef %65, double noundef 1.000000e+00, ptr noundef %41, i64 noundef %66, ptr noundef %40, i64 noundef %67, double noundef 0.000000e+00, ptr noundef %39, i64 noundef %68) #11
  br label %95
69:                                               ; preds = %37
  %70 = load i64, ptr %26, align 8
  %71 = inttoptr i64 %70 to ptr
  %72 = load i64, ptr %0, align 8
  %73 = trunc i64 %72 to i32
  %74 = load i64, ptr %27, align 8
  %75 = trunc i64 %74 to i32
  %76 = load i64, ptr %28, align 8
  %77 = load i64, ptr %29, align 8
  %78 = load i64, ptr %30, align 8
  %79 = load i64, ptr %31, align 8
  %80 = load i64, ptr %32, align 8
  %81 = load i64, ptr %33, align 8
  tail call void %71(i32 noundef 101, i32 noundef %73, i32 noundef %75, i64 noundef %76, i64 noundef %77, i64 noundef %78, ptr noundef nonnull @product.one32, ptr noundef %41, i64 noundef %79, ptr noundef %40, i64 noundef %80, ptr noundef nonnull @product.zero32, ptr noundef %39, i64 noundef %81) #11
  br label %95
82:                                               ; preds = %37
  %83 = load i64, ptr %26, align 8
  %84 = inttoptr i64 %83 to ptr
  %85 = load i64, ptr %0, align 8
  %86 = trunc i64 %85 to i32
  %87 = load i64, ptr %27, align 8
  %88 = trunc i64 %87 to i32
  %89 = load i64, ptr %28, align 8
  %90 = load i64, ptr %29, align 8
  %91 = load i64, ptr %30, align 8
  %92 = load i64, ptr %31, align 8
  %93 = load i64, ptr %32, align 8
  %94 = load i64, ptr %33, align 8
  tail call void %84(i32 noundef 101, i32 noundef %86, i32 noundef %88, i64 noundef %89, i64 noundef %90, i64 noundef %91, ptr noundef nonnull @product.one64, ptr noundef %41, i64 noundef %92, ptr noundef %40, i64 noundef %93, ptr noundef nonnull @product.zero64, ptr noundef %39, i64 noundef %94) #11
  br label %95
95:                                               ; preds = %37, %82, %69, %56, %43
  %96 = load i64, ptr %34, align 8
  %97 = getelementptr inbounds i8, ptr %41, i64 %96
  %98 = load i64, ptr %35, align 8
  %99 = getelementptr inbounds i8, ptr %40, i64 %98
  %100 = load i64, ptr %36, align 8
  %101 = getelementptr inbounds i8, ptr %39, i64 %100
  %102 = add nsw i64 %38, -1
  %103 = icmp sgt i64 %38, 1
  br i1 %103, label %37, label %104
104:                                              ; preds = %95, %20, %14
  %105 = phi i64 [ 1, %14 ], [ 0, %20 ], [ 0, %95 ]
  ret i64 %105
}
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #7
declare ptr @llvm.stacksave.p0() #8
declare void @llvm.stackrestore.p0(ptr) #8
define internal fastcc range(i32 -1, 2) i32 @call_routine(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef nonnull readonly %2, ptr nocapture noundef nonnull %3) unnamed_addr #2 {
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %6 = load i64, ptr %5, align 8
  %7 = add nsw i64 %6, 1
  %8 = alloca ptr, i64 %7, align 16
  %9 = getelementptr inbounds nuw i8, ptr %2, i64 80
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds i64, ptr %2, i64 %10
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %14 = icmp sgt i64 %6, 0
  br i1 %14, label %15, label %27
15:                                               ; preds = %4, %24
  %16 = phi i64 [ %25, %24 ], [ 0, %4 ]
  %17 = getelementptr inbounds nuw [0 x i64], ptr %13, i64 0, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds %struct.value, ptr %3, i64 %18
  %20 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %19) #13
  %21 = getelementptr inbounds nuw ptr, ptr %8, i64 %16
  store ptr %20, ptr %21, align 8
  %22 = icmp eq ptr %20, null
  %23 = load i64, ptr %5, align 8
  br i1 %22, label %27, label %24
24:                                               ; preds = %15
  %25 = add nuw nsw i64 %16, 1
  %26 = icmp slt i64 %25, %23
  br i1 %26, label %15, label %27
27:                                               ; preds = %15, %24, %4
  %28 = phi i64 [ %6, %4 ], [ %23, %24 ], [ %23, %15 ]
  %29 = phi i64 [ 0, %4 ], [ %16, %15 ], [ %25, %24 ]
  %30 = icmp eq i64 %29, %28
  br i1 %30, label %31, label %36
31:                                               ; preds = %27
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %33 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %34 = load ptr, ptr %33, align 8
  %35 = call ptr %32(ptr noundef %34, ptr noundef nonnull %8, i64 noundef %28, ptr noundef null) #11
  br label %36
36:                                               ; preds = %31, %27
  %37 = phi ptr [ %35, %31 ], [ null, %27 ]
  %38 = icmp eq i64 %29, 0
  br i1 %38, label %46, label %39
39:                                               ; preds = %36, %39
  %40 = phi i64 [ %42, %39 ], [ %29, %36 ]
  %41 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %42 = add nsw i64 %40, -1
  %43 = getelementptr inbounds ptr, ptr %8, i64 %42
  %44 = load ptr, ptr %43, align 8
  call void %41(ptr noundef %44) #11
  %45 = icmp eq i64 %42, 0
  br i1 %45, label %46, label %39
46:                                               ; preds = %39, %36
  %47 = icmp eq ptr %37, null
  br i1 %47, label %114, label %48
48:                                               ; preds = %46
  %49 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %50 = getelementptr inbounds i8, ptr %37, i64 %49
  %51 = load ptr, ptr %50, align 8
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %53 = load ptr, ptr %52, align 8
  %54 = icmp eq ptr %51, %53
  br i1 %54, label %55, label %97
55:                                               ; preds = %48
  %56 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %57 = getelementptr inbounds i8, ptr %37, i64 %56
  %58 = load i64, ptr %57, align 8
  %59 = load ptr, ptr %12, align 8
  %60 = ptrtoint ptr %59 to i64
  %61 = icmp eq i64 %58, %60
  br i1 %61, label %62, label %97
62:                                               ; preds = %55
  %63 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %64 = getelementptr inbounds i8, ptr %37, i64 %63
  %65 = load i32, ptr %64, align 4
  %66 = sext i32 %65 to i64
  %67 = getelementptr inbounds nuw i8, ptr %12, i64 16
  %68 = load i64, ptr %67, align 8
  %69 = icmp eq i64 %68, %66
  br i1 %69, label %70, label %97
70:                                               ; preds = %62
  %71 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %72 = getelementptr inbounds i8, ptr %37, i64 %71
  %73 = load ptr, ptr %72, align 8
  %74 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %75 = getelementptr inbounds i8, ptr %37, i64 %74
  %76 = load ptr, ptr %75, align 8
  %77 = icmp slt i32 %65, 1
  br i1 %77, label %99, label %78
78:                                               ; preds = %70
  %79 = getelementptr inbounds nuw i8, ptr %12, i64 48
  br label %83
80:                                               ; preds = %90
  %81 = add nuw nsw i64 %84, 1
  %82 = icmp eq i64 %81, %66
  br i1 %82, label %99, label %83
83:                                               ; preds = %80, %78
  %84 = phi i64 [ 0, %78 ], [ %81, %80 ]
  %85 = getelementptr inbounds nuw i64, ptr %73, i64 %84
  %86 = load i64, ptr %85, align 8
  %87 = getelementptr inbounds nuw [0 x i64], ptr %79, i64 0, i64 %84
  %88 = load i64, ptr %87, align 8
  %89 = icmp eq i64 %86, %88
  br i1 %89, label %90, label %97
90:                                               ; preds = %83
  %91 = getelementptr inbounds nuw i64, ptr %76, i64 %84
  %92 = load i64, ptr %91, align 8
  %93 = add nuw nsw i64 %84, %66
  %94 = getelementptr inbounds nuw [0 x i64], ptr %79, i64 0, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = icmp eq i64 %92, %95
  br i1 %96, label %80, label %97
97:                                               ; preds = %90, %83, %55, %62, %48
  %98 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %98(ptr noundef nonnull %37) #11
  br label %114
99:                                               ; preds = %80, %70
  %100 = load i64, ptr %5, align 8
  %101 = getelementptr inbounds [0 x i64], ptr %13, i64 0, i64 %100
  %102 = load i64, ptr %101, align 8
  %103 = getelementptr inbounds %struct.value, ptr %3, i64 %102
  %104 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %105 = getelementptr inbounds i8, ptr %37, i64 %104
  %106 = load i64, ptr %105, align 8
  %107 = getelementptr inbounds nuw i8, ptr %103, i64 16
  %108 = load ptr, ptr %107, align 8
  %109 = icmp eq ptr %108, null
  br i1 %109, label %112, label %110
110:                                              ; preds = %99
  %111 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %111(ptr noundef nonnull %108) #11
  br label %112
112:                                              ; preds = %99, %110
  store i64 %106, ptr %103, align 8
  %113 = getelementptr inbounds nuw i8, ptr %103, i64 8
  store ptr %12, ptr %113, align 8
  store ptr %37, ptr %107, align 8
  br label %114
114:                                              ; preds = %46, %112, %97
  %115 = phi i32 [ 1, %112 ], [ 0, %97 ], [ -1, %46 ]
  ret i32 %115
}
define internal fastcc range(i32 -1, 2) i32 @follow(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr noundef nonnull %2, ptr nocapture noundef nonnull %3, ptr nocapture noundef nonnull writeonly %4) unnamed_addr #2 {
  %6 = alloca [2 x ptr], align 16
  %7 = alloca [1 x ptr], align 8
  %8 = alloca i64, align 8
  %9 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %12 = load i64, ptr %11, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #12
  %13 = add nsw i64 %12, %10
  %14 = getelementptr inbounds nuw i8, ptr %2, i64 64
  %15 = load i64, ptr %14, align 8
  %16 = add i64 %13, 1
  %17 = add i64 %16, %15
  %18 = tail call ptr @llvm.stacksave.p0()
  %19 = alloca i64, i64 %17, align 16
  %20 = load i64, ptr %14, align 8
  %21 = add i64 %12, 1
  %22 = add i64 %21, %20
  %23 = alloca ptr, i64 %22, align 16
  %24 = getelementptr inbounds nuw i8, ptr %2, i64 80
  %25 = load i64, ptr %24, align 8
  %26 = getelementptr inbounds i64, ptr %2, i64 %25
  %27 = getelementptr inbounds %struct.result, ptr %26, i64 %12
  %28 = icmp sgt i64 %10, 0
  br i1 %28, label %29, label %49
29:                                               ; preds = %5
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %31 = and i64 %10, 3
  %32 = icmp ult i64 %10, 4
  br i1 %32, label %35, label %33
33:                                               ; preds = %29
  %34 = and i64 %10, 9223372036854775804
  br label %53
35:                                               ; preds = %53, %29
  %36 = phi i64 [ 0, %29 ], [ %79, %53 ]
  %37 = icmp eq i64 %31, 0
  br i1 %37, label %49, label %38
38:                                               ; preds = %35, %38
  %39 = phi i64 [ %46, %38 ], [ %36, %35 ]
  %40 = phi i64 [ %47, %38 ], [ 0, %35 ]
  %41 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %39
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds %struct.value, ptr %3, i64 %42
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds nuw i64, ptr %19, i64 %39
  store i64 %44, ptr %45, align 8
  %46 = add nuw nsw i64 %39, 1
  %47 = add i64 %40, 1
  %48 = icmp eq i64 %47, %31
  br i1 %48, label %49, label %38
49:                                               ; preds = %35, %38, %5
  %50 = getelementptr inbounds nuw i8, ptr %2, i64 32
  %51 = load i64, ptr %50, align 8
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %87, label %82
53:                                               ; preds = %53, %33
  %54 = phi i64 [ 0, %33 ], [ %79, %53 ]
  %55 = phi i64 [ 0, %33 ], [ %80, %53 ]
  %56 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %54
  %57 = load i64, ptr %56, align 8
  %58 = getelementptr inbounds %struct.value, ptr %3, i64 %57
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds nuw i64, ptr %19, i64 %54
  store i64 %59, ptr %60, align 16
  %61 = or disjoint i64 %54, 1
  %62 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = getelementptr inbounds %struct.value, ptr %3, i64 %63
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds nuw i64, ptr %19, i64 %61
  store i64 %65, ptr %66, align 8
  %67 = or disjoint i64 %54, 2
  %68 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %67
  %69 = load i64, ptr %68, align 8
  %70 = getelementptr inbounds %struct.value, ptr %3, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = getelementptr inbounds nuw i64, ptr %19, i64 %67
  store i64 %71, ptr %72, align 16
  %73 = or disjoint i64 %54, 3
  %74 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = getelementptr inbounds %struct.value, ptr %3, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = getelementptr inbounds nuw i64, ptr %19, i64 %73
  store i64 %77, ptr %78, align 8
  %79 = add nuw nsw i64 %54, 4
  %80 = add i64 %55, 4
  %81 = icmp eq i64 %80, %34
  br i1 %81, label %35, label %53
82:                                               ; preds = %49
  %83 = load i64, ptr %19, align 16
  %84 = getelementptr inbounds nuw i8, ptr %19, i64 8
  %85 = load i64, ptr %84, align 8
  %86 = icmp eq i64 %83, %85
  br i1 %86, label %548, label %87
87:                                               ; preds = %82, %49
  %88 = add nsw i64 %20, %12
  %89 = icmp sgt i64 %88, 0
  br i1 %89, label %90, label %289
90:                                               ; preds = %87
  %91 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %92 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %93 = getelementptr inbounds nuw i8, ptr %2, i64 56
  %94 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %95 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %96 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %97 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %98 = getelementptr i64, ptr %19, i64 %10
  br label %99
99:                                               ; preds = %90, %278
  %100 = phi i64 [ 0, %90 ], [ %281, %278 ]
  %101 = icmp slt i64 %100, %12
  br i1 %101, label %107, label %102
102:                                              ; preds = %99
  %103 = sub nsw i64 %100, %12
  %104 = getelementptr inbounds i64, ptr %27, i64 %103
  %105 = load i64, ptr %104, align 8
  %106 = inttoptr i64 %105 to ptr
  br label %131
107:                                              ; preds = %99
  %108 = load ptr, ptr %91, align 8
  %109 = icmp eq ptr %108, null
  br i1 %109, label %113, label %110
110:                                              ; preds = %107
  %111 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %112 = load ptr, ptr %92, align 8
  tail call void %111(ptr noundef %112) #11
  br label %278
113:                                              ; preds = %107
  %114 = getelementptr inbounds nuw %struct.result, ptr %26, i64 %100
  %115 = load ptr, ptr %114, align 8
  %116 = getelementptr inbounds nuw i8, ptr %114, i64 8
  %117 = load i64, ptr %116, align 8
  %118 = icmp sgt i64 %117, -1
  br i1 %118, label %119, label %131
119:                                              ; preds = %113
  %120 = getelementptr inbounds nuw i64, ptr %19, i64 %117
  %121 = load i64, ptr %120, align 8
  %122 = getelementptr inbounds nuw i8, ptr %114, i64 16
  %123 = load i64, ptr %122, align 8
  %124 = add nsw i64 %123, %121
  %125 = getelementptr i64, ptr %98, i64 %100
  store i64 %124, ptr %125, align 8
  %126 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %127 = getelementptr inbounds nuw [0 x i64], ptr %94, i64 0, i64 %117
  %128 = load i64, ptr %127, align 8
  %129 = getelementptr inbounds %struct.value, ptr %3, i64 %128, i32 2
  %130 = load ptr, ptr %129, align 8
  tail call void %126(ptr noundef %130) #11
  br label %278
131:                                              ; preds = %102, %113
  %132 = phi ptr [ %106, %102 ], [ %115, %113 ]
  %133 = icmp eq i64 %100, 0
  br i1 %133, label %134, label %218
134:                                              ; preds = %131
  %135 = load i64, ptr %93, align 8
  %136 = icmp eq i64 %135, 0
  br i1 %136, label %218, label %137
137:                                              ; preds = %134
  %138 = load i64, ptr %95, align 8
  %139 = getelementptr inbounds [0 x i64], ptr %94, i64 0, i64 %138
  %140 = load i64, ptr %139, align 8
  %141 = getelementptr inbounds %struct.value, ptr %3, i64 %140
  %142 = getelementptr inbounds nuw i8, ptr %141, i64 16
  %143 = load ptr, ptr %142, align 8
  %144 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %145 = getelementptr inbounds i8, ptr %143, i64 %144
  %146 = getelementptr inbounds i8, ptr %145, i64 -8
  %147 = load i32, ptr %146, align 4
  %148 = icmp eq i32 %147, 1
  br i1 %148, label %149, label %218
149:                                              ; preds = %137
  %150 = load ptr, ptr %145, align 8
  %151 = load ptr, ptr %96, align 8
  %152 = icmp eq ptr %150, %151
  br i1 %152, label %153, label %218
153:                                              ; preds = %149
  %154 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %155 = getelementptr inbounds i8, ptr %143, i64 %154
  %156 = load i64, ptr %155, align 8
  %157 = load i64, ptr %141, align 8
  %158 = icmp eq i64 %156, %157
  br i1 %158, label %159, label %218
159:                                              ; preds = %153
  %160 = getelementptr inbounds nuw i8, ptr %141, i64 8
  %161 = load ptr, ptr %160, align 8
  %162 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %163 = getelementptr inbounds i8, ptr %143, i64 %162
  %164 = load i64, ptr %163, align 8
  %165 = load ptr, ptr %161, align 8
  %166 = ptrtoint ptr %165 to i64
  %167 = icmp eq i64 %164, %166
  br i1 %167, label %168, label %218
168:                                              ; preds = %159
  %169 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %170 = getelementptr inbounds i8, ptr %143, i64 %169
  %171 = load i32, ptr %170, align 4
  %172 = sext i32 %171 to i64
  %173 = getelementptr inbounds nuw i8, ptr %161, i64 16
  %174 = load i64, ptr %173, align 8
  %175 = icmp eq i64 %174, %172
  br i1 %175, label %176, label %218
176:                                              ; preds = %168
  %177 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %178 = getelementptr inbounds i8, ptr %143, i64 %177
  %179 = load ptr, ptr %178, align 8
  %180 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %181 = getelementptr inbounds i8, ptr %143, i64 %180
  %182 = load ptr, ptr %181, align 8
  %183 = icmp slt i32 %171, 1
  br i1 %183, label %203, label %184
184:                                              ; preds = %176
  %185 = getelementptr inbounds nuw i8, ptr %161, i64 48
  br label %189
186:                                              ; preds = %196
  %187 = add nuw nsw i64 %190, 1
  %188 = icmp eq i64 %187, %172
  br i1 %188, label %203, label %189
189:                                              ; preds = %186, %184
  %190 = phi i64 [ 0, %184 ], [ %187, %186 ]
  %191 = getelementptr inbounds nuw i64, ptr %179, i64 %190
  %192 = load i64, ptr %191, align 8
  %193 = getelementptr inbounds nuw [0 x i64], ptr %185, i64 0, i64 %190
  %194 = load i64, ptr %193, align 8
  %195 = icmp eq i64 %192, %194
  br i1 %195, label %196, label %218
196:                                              ; preds = %189
  %197 = getelementptr inbounds nuw i64, ptr %182, i64 %190
  %198 = load i64, ptr %197, align 8
  %199 = add nuw nsw i64 %190, %172
  %200 = getelementptr inbounds nuw [0 x i64], ptr %185, i64 0, i64 %199
  %201 = load i64, ptr %200, align 8
  %202 = icmp eq i64 %198, %201
  br i1 %202, label %186, label %218
203:                                              ; preds = %186, %176
  %204 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %205 = getelementptr inbounds i8, ptr %143, i64 %204
  %206 = load ptr, ptr %205, align 8
  %207 = icmp eq ptr %206, null
  br i1 %207, label %213, label %208
208:                                              ; preds = %203
  %209 = getelementptr inbounds i8, ptr %206, i64 %144
  %210 = load ptr, ptr %209, align 8
  %211 = load ptr, ptr %97, align 8
  %212 = icmp eq ptr %210, %211
  br i1 %212, label %213, label %218
213:                                              ; preds = %203, %208
  %214 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  tail call void %214(ptr noundef nonnull %143) #11
  %215 = load i64, ptr %95, align 8
  %216 = getelementptr inbounds i64, ptr %19, i64 %215
  %217 = load i64, ptr %216, align 8
  store i64 %217, ptr %98, align 8
  br label %278
218:                                              ; preds = %189, %196, %159, %168, %149, %153, %137, %208, %134, %131
  %219 = getelementptr i64, ptr %98, i64 %100
  %220 = getelementptr inbounds nuw i8, ptr %132, i64 32
  %221 = load i64, ptr %220, align 8
  %222 = getelementptr inbounds nuw i8, ptr %132, i64 24
  %223 = load i64, ptr %222, align 8
  %224 = mul nsw i64 %223, %221
  %225 = icmp slt i64 %224, 513
  br i1 %225, label %259, label %226
226:                                              ; preds = %218
  %227 = getelementptr inbounds nuw i8, ptr %132, i64 8
  %228 = load ptr, ptr %227, align 8
  %229 = icmp eq ptr %228, null
  br i1 %229, label %233, label %230
230:                                              ; preds = %226
  %231 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %232 = tail call ptr %231(ptr noundef nonnull %228, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  br label %256
233:                                              ; preds = %226
  %234 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %235 = load ptr, ptr %132, align 8
  tail call void %234(ptr noundef %235) #11
  %236 = getelementptr inbounds nuw i8, ptr %132, i64 40
  %237 = load i64, ptr %236, align 8
  %238 = icmp eq i64 %237, 0
  br i1 %238, label %242, label %239
239:                                              ; preds = %233
  %240 = getelementptr inbounds nuw i8, ptr %132, i64 16
  %241 = load i64, ptr %240, align 8
  br label %247
242:                                              ; preds = %233
  %243 = getelementptr inbounds nuw i8, ptr %132, i64 48
  %244 = getelementptr inbounds nuw i8, ptr %132, i64 16
  %245 = load i64, ptr %244, align 8
  %246 = getelementptr inbounds i64, ptr %243, i64 %245
  br label %247
247:                                              ; preds = %242, %239
  %248 = phi i64 [ %245, %242 ], [ %241, %239 ]
  %249 = phi ptr [ %246, %242 ], [ null, %239 ]
  %250 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %251 = load ptr, ptr %96, align 8
  %252 = load ptr, ptr %132, align 8
  %253 = trunc i64 %248 to i32
  %254 = getelementptr inbounds nuw i8, ptr %132, i64 48
  %255 = tail call ptr %250(ptr noundef %251, ptr noundef %252, i32 noundef %253, ptr noundef nonnull %254, ptr noundef %249, ptr noundef null, i32 noundef 0, ptr noundef null) #11
  br label %256
256:                                              ; preds = %247, %230
  %257 = phi ptr [ %255, %247 ], [ %232, %230 ]
  %258 = icmp eq ptr %257, null
  br i1 %258, label %285, label %268
259:                                              ; preds = %218
  %260 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %261 = add nsw i64 %224, 1
  %262 = tail call ptr %260(ptr noundef null, i64 noundef %261) #11
  %263 = icmp eq ptr %262, null
  br i1 %263, label %285, label %264
264:                                              ; preds = %259
  %265 = ptrtoint ptr %262 to i64
  %266 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %267 = add nsw i64 %266, %265
  br label %272
268:                                              ; preds = %256
  %269 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %270 = getelementptr inbounds i8, ptr %257, i64 %269
  %271 = load i64, ptr %270, align 8
  br label %272
272:                                              ; preds = %268, %264
  %273 = phi ptr [ %262, %264 ], [ %257, %268 ]
  %274 = phi i64 [ %267, %264 ], [ %271, %268 ]
  store i64 %274, ptr %219, align 8
  br i1 %101, label %278, label %275
275:                                              ; preds = %272
  %276 = add nsw i64 %274, 63
  %277 = and i64 %276, -64
  store i64 %277, ptr %219, align 8
  br label %278
278:                                              ; preds = %110, %213, %275, %272, %119
  %279 = phi ptr [ %112, %110 ], [ %130, %119 ], [ %273, %275 ], [ %273, %272 ], [ %143, %213 ]
  %280 = getelementptr inbounds nuw ptr, ptr %23, i64 %100
  store ptr %279, ptr %280, align 8
  %281 = add nuw nsw i64 %100, 1
  %282 = load i64, ptr %14, align 8
  %283 = add nsw i64 %282, %12
  %284 = icmp slt i64 %281, %283
  br i1 %284, label %99, label %285
285:                                              ; preds = %256, %259, %278
  %286 = phi i64 [ %281, %278 ], [ %100, %259 ], [ %100, %256 ]
  %287 = load i64, ptr %14, align 8
  %288 = add nsw i64 %287, %12
  br label %289
289:                                              ; preds = %285, %87
  %290 = phi i64 [ %288, %285 ], [ %88, %87 ]
  %291 = phi i64 [ %287, %285 ], [ %20, %87 ]
  %292 = phi i64 [ %286, %285 ], [ 0, %87 ]
  %293 = icmp eq i64 %292, %290
  br i1 %293, label %294, label %461
294:                                              ; preds = %289
  %295 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %296 = load ptr, ptr %295, align 8
  %297 = icmp eq ptr %296, null
  br i1 %297, label %303, label %298
298:                                              ; preds = %294
  %299 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %300 = tail call ptr %299(ptr noundef nonnull %296, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  %301 = icmp eq ptr %300, null
  %302 = load i64, ptr %14, align 8
  br i1 %301, label %461, label %303
303:                                              ; preds = %294, %298
  %304 = phi i64 [ %302, %298 ], [ %291, %294 ]
  %305 = phi ptr [ %300, %298 ], [ null, %294 ]
  %306 = getelementptr inbounds i64, ptr %27, i64 %304
  %307 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %308 = load ptr, ptr %307, align 8
  %309 = icmp eq ptr %308, null
  br i1 %309, label %316, label %310
310:                                              ; preds = %303
  %311 = getelementptr i64, ptr %19, i64 %10
  %312 = getelementptr i64, ptr %311, i64 %292
  %313 = getelementptr i8, ptr %312, i64 -8
  %314 = load i64, ptr %313, align 8
  %315 = inttoptr i64 %314 to ptr
  br label %316
316:                                              ; preds = %303, %310
  %317 = phi ptr [ %315, %310 ], [ null, %303 ]
  %318 = getelementptr inbounds nuw i8, ptr %2, i64 72
  %319 = icmp eq ptr %317, null
  %320 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %321 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %322 = getelementptr i64, ptr %19, i64 %10
  %323 = getelementptr i64, ptr %322, i64 %292
  %324 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %325 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %326 = load i64, ptr %318, align 8
  %327 = icmp slt i64 %326, 1
  br i1 %327, label %454, label %328
328:                                              ; preds = %316, %444
  %329 = phi ptr [ %449, %444 ], [ %306, %316 ]
  %330 = phi ptr [ %445, %444 ], [ null, %316 ]
  %331 = phi i64 [ %446, %444 ], [ 0, %316 ]
  %332 = getelementptr inbounds nuw i8, ptr %329, i64 8
  %333 = getelementptr inbounds nuw i8, ptr %329, i64 48
  %334 = load i64, ptr %333, align 8
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %336, label %338
336:                                              ; preds = %328
  %337 = call i64 @launch(ptr noundef nonnull %332, ptr noundef nonnull %19, ptr noundef nonnull %8) #13
  br label %345
338:                                              ; preds = %328
  %339 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %340 = call ptr %339() #11
  %341 = call i64 @launch(ptr noundef nonnull %332, ptr noundef nonnull %19, ptr noundef nonnull %8) #13
  %342 = icmp eq ptr %340, null
  br i1 %342, label %345, label %343
343:                                              ; preds = %338
  %344 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 288), align 8
  call void %344(ptr noundef nonnull %340) #11
  br label %345
345:                                              ; preds = %336, %343, %338
  %346 = phi i64 [ %337, %336 ], [ %341, %343 ], [ %341, %338 ]
  %347 = icmp ne i64 %331, 0
  %348 = or i1 %319, %347
  %349 = icmp ne i64 %346, 0
  %350 = select i1 %348, i1 true, i1 %349
  br i1 %350, label %444, label %351
351:                                              ; preds = %345
  %352 = load i64, ptr %317, align 8
  %353 = load i64, ptr %321, align 8
  %354 = add nsw i64 %353, %13
  %355 = getelementptr inbounds [0 x i64], ptr %320, i64 0, i64 %354
  %356 = load i64, ptr %355, align 8
  %357 = getelementptr inbounds i64, ptr %4, i64 %356
  store i64 %352, ptr %357, align 8
  store i64 %352, ptr %323, align 8
  %358 = load ptr, ptr %324, align 8
  %359 = getelementptr inbounds nuw i8, ptr %358, i64 8
  %360 = getelementptr inbounds [0 x i64], ptr %359, i64 0, i64 %352
  %361 = load i64, ptr %360, align 8
  %362 = icmp eq i64 %361, 0
  br i1 %362, label %363, label %384
363:                                              ; preds = %351
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #12
  %364 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %365 = call ptr %364(i64 noundef %352) #11
  store ptr %365, ptr %7, align 8
  %366 = icmp eq ptr %365, null
  br i1 %366, label %377, label %367
367:                                              ; preds = %363
  %368 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %369 = load ptr, ptr %358, align 8
  %370 = call ptr %368(ptr noundef %369, ptr noundef nonnull %7, i64 noundef 1, ptr noundef null) #11
  %371 = load ptr, ptr %7, align 8
  %372 = icmp eq ptr %371, null
  br i1 %372, label %375, label %373
373:                                              ; preds = %367
  %374 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %374(ptr noundef nonnull %371) #11
  br label %375
375:                                              ; preds = %373, %367
  %376 = icmp eq ptr %370, null
  br i1 %376, label %377, label %378
377:                                              ; preds = %363, %375
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #12
  br label %454
378:                                              ; preds = %375
  %379 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %380 = call i64 %379(ptr noundef nonnull %370) #11
  store i64 %380, ptr %360, align 8
  %381 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %381(ptr noundef nonnull %370) #11
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #12
  %382 = load i64, ptr %360, align 8
  %383 = icmp eq i64 %382, 0
  br i1 %383, label %454, label %384
384:                                              ; preds = %351, %378
  %385 = phi i64 [ %382, %378 ], [ %361, %351 ]
  %386 = inttoptr i64 %385 to ptr
  %387 = getelementptr inbounds nuw i8, ptr %386, i64 32
  %388 = load i64, ptr %387, align 8
  %389 = getelementptr inbounds nuw i8, ptr %386, i64 24
  %390 = load i64, ptr %389, align 8
  %391 = mul nsw i64 %390, %388
  %392 = icmp slt i64 %391, 513
  br i1 %392, label %426, label %393
393:                                              ; preds = %384
  %394 = getelementptr inbounds nuw i8, ptr %386, i64 8
  %395 = load ptr, ptr %394, align 8
  %396 = icmp eq ptr %395, null
  br i1 %396, label %400, label %397
397:                                              ; preds = %393
  %398 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %399 = call ptr %398(ptr noundef nonnull %395, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  br label %423
400:                                              ; preds = %393
  %401 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %402 = load ptr, ptr %386, align 8
  call void %401(ptr noundef %402) #11
  %403 = getelementptr inbounds nuw i8, ptr %386, i64 40
  %404 = load i64, ptr %403, align 8
  %405 = icmp eq i64 %404, 0
  br i1 %405, label %409, label %406
406:                                              ; preds = %400
  %407 = getelementptr inbounds nuw i8, ptr %386, i64 16
  %408 = load i64, ptr %407, align 8
  br label %414
409:                                              ; preds = %400
  %410 = getelementptr inbounds nuw i8, ptr %386, i64 48
  %411 = getelementptr inbounds nuw i8, ptr %386, i64 16
  %412 = load i64, ptr %411, align 8
  %413 = getelementptr inbounds i64, ptr %410, i64 %412
  br label %414
414:                                              ; preds = %409, %406
  %415 = phi i64 [ %412, %409 ], [ %408, %406 ]
  %416 = phi ptr [ %413, %409 ], [ null, %406 ]
  %417 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %418 = load ptr, ptr %325, align 8
  %419 = load ptr, ptr %386, align 8
  %420 = trunc i64 %415 to i32
  %421 = getelementptr inbounds nuw i8, ptr %386, i64 48
  %422 = call ptr %417(ptr noundef %418, ptr noundef %419, i32 noundef %420, ptr noundef nonnull %421, ptr noundef %416, ptr noundef null, i32 noundef 0, ptr noundef null) #11
  br label %423
423:                                              ; preds = %414, %397
  %424 = phi ptr [ %422, %414 ], [ %399, %397 ]
  %425 = icmp eq ptr %424, null
  br i1 %425, label %454, label %435
426:                                              ; preds = %384
  %427 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %428 = add nsw i64 %391, 1
  %429 = call ptr %427(ptr noundef null, i64 noundef %428) #11
  %430 = icmp eq ptr %429, null
  br i1 %430, label %454, label %431
431:                                              ; preds = %426
  %432 = ptrtoint ptr %429 to i64
  %433 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %434 = add nsw i64 %433, %432
  br label %439
435:                                              ; preds = %423
  %436 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %437 = getelementptr inbounds i8, ptr %424, i64 %436
  %438 = load i64, ptr %437, align 8
  br label %439
439:                                              ; preds = %435, %431
  %440 = phi ptr [ %429, %431 ], [ %424, %435 ]
  %441 = phi i64 [ %434, %431 ], [ %438, %435 ]
  store i64 %441, ptr %322, align 8
  %442 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %443 = load ptr, ptr %23, align 16
  call void %442(ptr noundef %443) #11
  store ptr %440, ptr %23, align 16
  br label %444
444:                                              ; preds = %345, %439
  %445 = phi ptr [ %386, %439 ], [ %330, %345 ]
  %446 = add nuw nsw i64 %331, 1
  %447 = load i64, ptr %329, align 8
  %448 = getelementptr i64, ptr %329, i64 %447
  %449 = getelementptr i8, ptr %448, i64 8
  %450 = load i64, ptr %318, align 8
  %451 = icmp sge i64 %446, %450
  %452 = icmp ne i64 %346, 0
  %453 = select i1 %451, i1 true, i1 %452
  br i1 %453, label %454, label %328
454:                                              ; preds = %423, %426, %378, %444, %316, %377
  %455 = phi i1 [ false, %377 ], [ true, %316 ], [ true, %444 ], [ false, %378 ], [ false, %426 ], [ false, %423 ]
  %456 = phi ptr [ null, %377 ], [ null, %316 ], [ %445, %444 ], [ null, %378 ], [ %386, %426 ], [ %386, %423 ]
  %457 = phi i64 [ 0, %377 ], [ 0, %316 ], [ %346, %444 ], [ 0, %378 ], [ 0, %426 ], [ 0, %423 ]
  %458 = icmp eq ptr %305, null
  br i1 %458, label %461, label %459
459:                                              ; preds = %454
  %460 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %460(ptr noundef nonnull %305) #11
  br label %461
461:                                              ; preds = %298, %289, %459, %454
  %462 = phi i64 [ %457, %459 ], [ %457, %454 ], [ 0, %289 ], [ 0, %298 ]
  %463 = phi i1 [ %455, %459 ], [ %455, %454 ], [ false, %289 ], [ false, %298 ]
  %464 = phi ptr [ %456, %459 ], [ %456, %454 ], [ null, %289 ], [ null, %298 ]
  %465 = icmp eq i64 %462, 0
  %466 = select i1 %463, i1 %465, i1 false
  %467 = select i1 %466, i64 %12, i64 0
  %468 = icmp sgt i64 %292, %467
  br i1 %468, label %469, label %476
469:                                              ; preds = %461, %469
  %470 = phi i64 [ %472, %469 ], [ %292, %461 ]
  %471 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %472 = add nsw i64 %470, -1
  %473 = getelementptr inbounds ptr, ptr %23, i64 %472
  %474 = load ptr, ptr %473, align 8
  call void %471(ptr noundef %474) #11
  %475 = icmp sgt i64 %472, %467
  br i1 %475, label %469, label %476
476:                                              ; preds = %469, %461
  br i1 %463, label %477, label %548
477:                                              ; preds = %476
  br i1 %465, label %478, label %483
478:                                              ; preds = %477
  %479 = icmp sgt i64 %12, 0
  br i1 %479, label %480, label %548
480:                                              ; preds = %478
  %481 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %482 = icmp eq ptr %464, null
  br label %524
483:                                              ; preds = %477
  %484 = load i64, ptr %8, align 8
  %485 = icmp eq i64 %462, -1
  br i1 %485, label %486, label %489
486:                                              ; preds = %483
  %487 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 208), align 8
  %488 = call ptr %487() #11
  br label %548
489:                                              ; preds = %483
  %490 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %491 = load ptr, ptr %490, align 8
  %492 = icmp eq ptr %491, null
  br i1 %492, label %548, label %493
493:                                              ; preds = %489
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %6) #12
  %494 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %495 = call ptr %494(i64 noundef range(i64 1, 0) %462) #11
  store ptr %495, ptr %6, align 16
  %496 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %497 = icmp eq ptr %495, null
  br i1 %497, label %522, label %498
498:                                              ; preds = %493
  %499 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %500 = call ptr %499(i64 noundef %484) #11
  store ptr %500, ptr %496, align 8
  %501 = icmp eq ptr %500, null
  br i1 %501, label %508, label %502
502:                                              ; preds = %498
  %503 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %504 = load ptr, ptr %490, align 8
  %505 = call ptr %503(ptr noundef %504, ptr noundef nonnull %6, i64 noundef 2, ptr noundef null) #11
  %506 = load ptr, ptr %6, align 16
  %507 = icmp eq ptr %506, null
  br i1 %507, label %512, label %508
508:                                              ; preds = %502, %498
  %509 = phi ptr [ %505, %502 ], [ null, %498 ]
  %510 = phi ptr [ %506, %502 ], [ %495, %498 ]
  %511 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %511(ptr noundef nonnull %510) #11
  br label %512
512:                                              ; preds = %508, %502
  %513 = phi ptr [ %509, %508 ], [ %505, %502 ]
  %514 = load ptr, ptr %496, align 8
  %515 = icmp eq ptr %514, null
  br i1 %515, label %518, label %516
516:                                              ; preds = %512
  %517 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %517(ptr noundef nonnull %514) #11
  br label %518
518:                                              ; preds = %516, %512
  %519 = icmp eq ptr %513, null
  br i1 %519, label %522, label %520
520:                                              ; preds = %518
  %521 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %521(ptr noundef nonnull %513) #11
  br label %522
522:                                              ; preds = %520, %518, %493
  %523 = phi i32 [ 0, %520 ], [ -1, %518 ], [ -1, %493 ]
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %6) #12
  br label %548
524:                                              ; preds = %480, %544
  %525 = phi i64 [ 0, %480 ], [ %546, %544 ]
  %526 = add nsw i64 %525, %10
  %527 = getelementptr inbounds [0 x i64], ptr %481, i64 0, i64 %526
  %528 = load i64, ptr %527, align 8
  %529 = getelementptr inbounds %struct.value, ptr %3, i64 %528
  %530 = getelementptr inbounds i64, ptr %19, i64 %526
  %531 = load i64, ptr %530, align 8
  br i1 %482, label %532, label %535
532:                                              ; preds = %524
  %533 = getelementptr inbounds nuw %struct.result, ptr %26, i64 %525
  %534 = load ptr, ptr %533, align 8
  br label %535
535:                                              ; preds = %524, %532
  %536 = phi ptr [ %534, %532 ], [ %464, %524 ]
  %537 = getelementptr inbounds nuw ptr, ptr %23, i64 %525
  %538 = load ptr, ptr %537, align 8
  %539 = getelementptr inbounds nuw i8, ptr %529, i64 16
  %540 = load ptr, ptr %539, align 8
  %541 = icmp eq ptr %540, null
  br i1 %541, label %544, label %542
542:                                              ; preds = %535
  %543 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %543(ptr noundef nonnull %540) #11
  br label %544
544:                                              ; preds = %535, %542
  store i64 %531, ptr %529, align 8
  %545 = getelementptr inbounds nuw i8, ptr %529, i64 8
  store ptr %536, ptr %545, align 8
  store ptr %538, ptr %539, align 8
  %546 = add nuw nsw i64 %525, 1
  %547 = icmp eq i64 %546, %12
  br i1 %547, label %548, label %524
548:                                              ; preds = %544, %478, %522, %489, %486, %476, %82
  %549 = phi i32 [ 0, %82 ], [ -1, %476 ], [ -1, %486 ], [ %523, %522 ], [ 0, %489 ], [ 1, %478 ], [ 1, %544 ]
  call void @llvm.stackrestore.p0(ptr %18)
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #12
  ret i32 %549
}
define internal fastcc range(i32 -1, 3) i32 @asked(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef nonnull %2, ptr nocapture noundef nonnull %3) unnamed_addr #2 {
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %8 = load i64, ptr %7, align 8
  %9 = add nsw i64 %8, %6
  %10 = add nsw i64 %9, 1
  %11 = alloca ptr, i64 %10, align 16
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %13, null
  br i1 %14, label %227, label %15
15:                                               ; preds = %4
  %16 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %17 = load i64, ptr %16, align 8
  %18 = icmp sgt i64 %17, -1
  br i1 %18, label %19, label %98
19:                                               ; preds = %15
  %20 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %21 = getelementptr inbounds nuw [0 x i64], ptr %20, i64 0, i64 %17
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds %struct.value, ptr %2, i64 %22
  %24 = getelementptr inbounds nuw i8, ptr %23, i64 16
  %25 = load ptr, ptr %24, align 8
  %26 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %27 = getelementptr inbounds i8, ptr %25, i64 %26
  %28 = getelementptr inbounds i8, ptr %27, i64 -8
  %29 = load i32, ptr %28, align 4
  %30 = icmp eq i32 %29, 1
  br i1 %30, label %31, label %98
31:                                               ; preds = %19
  %32 = load ptr, ptr %27, align 8
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %32, %34
  br i1 %35, label %36, label %98
36:                                               ; preds = %31
  %37 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %38 = getelementptr inbounds i8, ptr %25, i64 %37
  %39 = load i64, ptr %38, align 8
  %40 = load i64, ptr %23, align 8
  %41 = icmp eq i64 %39, %40
  br i1 %41, label %42, label %98
42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw i8, ptr %23, i64 8
  %44 = load ptr, ptr %43, align 8
  %45 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %46 = getelementptr inbounds i8, ptr %25, i64 %45
  %47 = load i64, ptr %46, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = ptrtoint ptr %48 to i64
  %50 = icmp eq i64 %47, %49
  br i1 %50, label %51, label %98
51:                                               ; preds = %42
  %52 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %53 = getelementptr inbounds i8, ptr %25, i64 %52
  %54 = load i32, ptr %53, align 4
  %55 = sext i32 %54 to i64
  %56 = getelementptr inbounds nuw i8, ptr %44, i64 16
  %57 = load i64, ptr %56, align 8
  %58 = icmp eq i64 %57, %55
  br i1 %58, label %59, label %98
59:                                               ; preds = %51
  %60 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %61 = getelementptr inbounds i8, ptr %25, i64 %60
  %62 = load ptr, ptr %61, align 8
  %63 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %64 = getelementptr inbounds i8, ptr %25, i64 %63
  %65 = load ptr, ptr %64, align 8
  %66 = icmp slt i32 %54, 1
  br i1 %66, label %86, label %67
67:                                               ; preds = %59
  %68 = getelementptr inbounds nuw i8, ptr %44, i64 48
  br label %72
69:                                               ; preds = %79
  %70 = add nuw nsw i64 %73, 1
  %71 = icmp eq i64 %70, %55
  br i1 %71, label %86, label %72
72:                                               ; preds = %69, %67
  %73 = phi i64 [ 0, %67 ], [ %70, %69 ]
  %74 = getelementptr inbounds nuw i64, ptr %62, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = getelementptr inbounds nuw [0 x i64], ptr %68, i64 0, i64 %73
  %77 = load i64, ptr %76, align 8
  %78 = icmp eq i64 %75, %77
  br i1 %78, label %79, label %98
79:                                               ; preds = %72
  %80 = getelementptr inbounds nuw i64, ptr %65, i64 %73
  %81 = load i64, ptr %80, align 8
  %82 = add nuw nsw i64 %73, %55
  %83 = getelementptr inbounds nuw [0 x i64], ptr %68, i64 0, i64 %82
  %84 = load i64, ptr %83, align 8
  %85 = icmp eq i64 %81, %84
  br i1 %85, label %69, label %98
86:                                               ; preds = %69, %59
  %87 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %88 = getelementptr inbounds i8, ptr %25, i64 %87
  %89 = load ptr, ptr %88, align 8
  %90 = icmp eq ptr %89, null
  br i1 %90, label %98, label %91
91:                                               ; preds = %86
  %92 = getelementptr inbounds i8, ptr %89, i64 %26
  %93 = load ptr, ptr %92, align 8
  %94 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %95 = load ptr, ptr %94, align 8
  %96 = icmp eq ptr %93, %95
  %97 = zext i1 %96 to i64
  br label %98
98:                                               ; preds = %79, %72, %91, %86, %51, %42, %36, %31, %19, %15
  %99 = phi i64 [ 0, %15 ], [ 0, %19 ], [ 1, %86 ], [ %97, %91 ], [ 0, %36 ], [ 0, %31 ], [ 0, %51 ], [ 0, %42 ], [ 0, %72 ], [ 0, %79 ]
  %100 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %101 = icmp sgt i64 %6, 0
  br i1 %101, label %102, label %113
102:                                              ; preds = %98, %110
  %103 = phi i64 [ %111, %110 ], [ 0, %98 ]
  %104 = getelementptr inbounds nuw [0 x i64], ptr %100, i64 0, i64 %103
  %105 = load i64, ptr %104, align 8
  %106 = getelementptr inbounds %struct.value, ptr %2, i64 %105
  %107 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %106) #13
  %108 = getelementptr inbounds nuw ptr, ptr %11, i64 %103
  store ptr %107, ptr %108, align 8
  %109 = icmp eq ptr %107, null
  br i1 %109, label %113, label %110
110:                                              ; preds = %102
  %111 = add nuw nsw i64 %103, 1
  %112 = icmp eq i64 %111, %6
  br i1 %112, label %113, label %102
113:                                              ; preds = %102, %110, %98
  %114 = phi i64 [ 0, %98 ], [ %6, %110 ], [ %103, %102 ]
  %115 = icmp sge i64 %114, %6
  %116 = icmp slt i64 %114, %9
  %117 = select i1 %115, i1 %116, i1 false
  br i1 %117, label %118, label %137
118:                                              ; preds = %113
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 56
  br label %120
120:                                              ; preds = %118, %132
  %121 = phi i64 [ %114, %118 ], [ %133, %132 ]
  %122 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %123 = load i64, ptr %119, align 8
  %124 = add nsw i64 %123, %121
  %125 = getelementptr inbounds [0 x i64], ptr %100, i64 0, i64 %124
  %126 = load i64, ptr %125, align 8
  %127 = getelementptr inbounds i64, ptr %3, i64 %126
  %128 = load i64, ptr %127, align 8
  %129 = tail call ptr %122(i64 noundef %128) #11
  %130 = getelementptr inbounds nuw ptr, ptr %11, i64 %121
  store ptr %129, ptr %130, align 8
  %131 = icmp eq ptr %129, null
  br i1 %131, label %137, label %132
132:                                              ; preds = %120
  %133 = add nuw nsw i64 %121, 1
  %134 = icmp sge i64 %133, %6
  %135 = icmp slt i64 %133, %9
  %136 = select i1 %134, i1 %135, i1 false
  br i1 %136, label %120, label %137
137:                                              ; preds = %120, %132, %113
  %138 = phi i64 [ %114, %113 ], [ %133, %132 ], [ %121, %120 ]
  %139 = icmp eq i64 %138, %9
  br i1 %139, label %140, label %149
140:                                              ; preds = %137
  %141 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %142 = tail call ptr %141(i64 noundef %99) #11
  %143 = getelementptr inbounds nuw ptr, ptr %11, i64 %9
  store ptr %142, ptr %143, align 8
  %144 = icmp eq ptr %142, null
  br i1 %144, label %149, label %145
145:                                              ; preds = %140
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %147 = load ptr, ptr %12, align 8
  %148 = call ptr %146(ptr noundef %147, ptr noundef nonnull %11, i64 noundef %10, ptr noundef null) #11
  br label %149
149:                                              ; preds = %145, %140, %137
  %150 = phi ptr [ %148, %145 ], [ null, %140 ], [ null, %137 ]
  %151 = phi i64 [ %10, %145 ], [ %9, %140 ], [ %138, %137 ]
  %152 = icmp eq i64 %151, 0
  br i1 %152, label %160, label %153
153:                                              ; preds = %149, %153
  %154 = phi i64 [ %156, %153 ], [ %151, %149 ]
  %155 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %156 = add nsw i64 %154, -1
  %157 = getelementptr inbounds ptr, ptr %11, i64 %156
  %158 = load ptr, ptr %157, align 8
  call void %155(ptr noundef %158) #11
  %159 = icmp eq i64 %156, 0
  br i1 %159, label %160, label %153
160:                                              ; preds = %153, %149
  %161 = icmp eq ptr %150, null
  br i1 %161, label %227, label %162
162:                                              ; preds = %160
  %163 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %164 = load ptr, ptr %163, align 8
  %165 = icmp eq ptr %150, %164
  br i1 %165, label %224, label %166
166:                                              ; preds = %162
  %167 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 336), align 8
  %168 = getelementptr inbounds i8, ptr %150, i64 %167
  %169 = getelementptr inbounds i64, ptr %100, i64 %6
  %170 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %171 = load i64, ptr %170, align 8
  %172 = icmp sgt i64 %171, 0
  br i1 %172, label %177, label %173
173:                                              ; preds = %200, %166
  %174 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %175 = load i64, ptr %174, align 8
  %176 = icmp sgt i64 %175, 0
  br i1 %176, label %205, label %224
177:                                              ; preds = %166, %200
  %178 = phi i64 [ %202, %200 ], [ 0, %166 ]
  %179 = shl nuw nsw i64 %178, 1
  %180 = getelementptr inbounds nuw ptr, ptr %168, i64 %179
  %181 = load ptr, ptr %180, align 8
  %182 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  call void %182(ptr noundef %181) #11
  %183 = getelementptr inbounds nuw i64, ptr %169, i64 %178
  %184 = load i64, ptr %183, align 8
  %185 = getelementptr inbounds %struct.value, ptr %2, i64 %184
  %186 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %187 = getelementptr inbounds i8, ptr %181, i64 %186
  %188 = load i64, ptr %187, align 8
  %189 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %190 = or disjoint i64 %179, 1
  %191 = getelementptr inbounds nuw ptr, ptr %168, i64 %190
  %192 = load ptr, ptr %191, align 8
  %193 = call i64 %189(ptr noundef %192) #11
  %194 = inttoptr i64 %193 to ptr
  %195 = getelementptr inbounds nuw i8, ptr %185, i64 16
  %196 = load ptr, ptr %195, align 8
  %197 = icmp eq ptr %196, null
  br i1 %197, label %200, label %198
198:                                              ; preds = %177
  %199 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %199(ptr noundef nonnull %196) #11
  br label %200
200:                                              ; preds = %177, %198
  store i64 %188, ptr %185, align 8
  %201 = getelementptr inbounds nuw i8, ptr %185, i64 8
  store ptr %194, ptr %201, align 8
  store ptr %181, ptr %195, align 8
  %202 = add nuw nsw i64 %178, 1
  %203 = load i64, ptr %170, align 8
  %204 = icmp slt i64 %202, %203
  br i1 %204, label %177, label %173
205:                                              ; preds = %173, %205
  %206 = phi i64 [ %221, %205 ], [ 0, %173 ]
  %207 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %208 = load i64, ptr %170, align 8
  %209 = shl i64 %208, 4
  %210 = getelementptr i8, ptr %168, i64 %209
  %211 = getelementptr ptr, ptr %210, i64 %206
  %212 = load ptr, ptr %211, align 8
  %213 = call i64 %207(ptr noundef %212) #11
  %214 = load i64, ptr %170, align 8
  %215 = load i64, ptr %7, align 8
  %216 = getelementptr i64, ptr %169, i64 %214
  %217 = getelementptr i64, ptr %216, i64 %215
  %218 = getelementptr i64, ptr %217, i64 %206
  %219 = load i64, ptr %218, align 8
  %220 = getelementptr inbounds i64, ptr %3, i64 %219
  store i64 %213, ptr %220, align 8
  %221 = add nuw nsw i64 %206, 1
  %222 = load i64, ptr %174, align 8
  %223 = icmp slt i64 %221, %222
  br i1 %223, label %205, label %224
224:                                              ; preds = %205, %173, %162
  %225 = phi i32 [ 2, %162 ], [ 1, %173 ], [ 1, %205 ]
  %226 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %226(ptr noundef nonnull %150) #11
  br label %227
227:                                              ; preds = %224, %160, %4
  %228 = phi i32 [ 2, %4 ], [ -1, %160 ], [ %225, %224 ]
  ret i32 %228
}
define internal fastcc void @copy_items(ptr nocapture noundef writeonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef readonly %2, i64 noundef %3) unnamed_addr #9 {
  %5 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %8 = load i64, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %10, 0
  %12 = icmp eq i64 %3, %8
  %13 = select i1 %11, i1 true, i1 %12
  br i1 %13, label %14, label %21
14:                                               ; preds = %4
  br i1 %12, label %19, label %15
15:                                               ; preds = %14
  %16 = getelementptr inbounds nuw i8, ptr %2, i64 32
  %17 = load i64, ptr %16, align 8
  %18 = mul nsw i64 %17, %6
  br label %19
19:                                               ; preds = %14, %15
  %20 = phi i64 [ %18, %15 ], [ %6, %14 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %0, ptr align 1 %1, i64 %20, i1 false)
  br label %407
21:                                               ; preds = %4
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 48
  %23 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %3
  %24 = load i64, ptr %23, align 8
  %25 = add nsw i64 %8, %3
  %26 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = add nsw i64 %3, 1
  %29 = icmp slt i64 %28, %8
  br i1 %29, label %30, label %99
30:                                               ; preds = %21
  %31 = xor i64 %3, -1
  %32 = add i64 %8, %31
  %33 = add i64 %8, -2
  %34 = sub i64 %33, %3
  %35 = and i64 %32, 7
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %47, label %37
37:                                               ; preds = %30, %37
  %38 = phi i64 [ %44, %37 ], [ %28, %30 ]
  %39 = phi i64 [ %43, %37 ], [ %6, %30 ]
  %40 = phi i64 [ %45, %37 ], [ 0, %30 ]
  %41 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %38
  %42 = load i64, ptr %41, align 8
  %43 = mul nsw i64 %42, %39
  %44 = add nsw i64 %38, 1
  %45 = add i64 %40, 1
  %46 = icmp eq i64 %45, %35
  br i1 %46, label %47, label %37
47:                                               ; preds = %37, %30
  %48 = phi i64 [ poison, %30 ], [ %43, %37 ]
  %49 = phi i64 [ %28, %30 ], [ %44, %37 ]
  %50 = phi i64 [ %6, %30 ], [ %43, %37 ]
  %51 = icmp ult i64 %34, 7
  br i1 %51, label %52, label %55
52:                                               ; preds = %55, %47
  %53 = phi i64 [ %48, %47 ], [ %88, %55 ]
  %54 = icmp sgt i64 %24, 0
  br i1 %54, label %91, label %407
55:                                               ; preds = %47, %55
  %56 = phi i64 [ %89, %55 ], [ %49, %47 ]
  %57 = phi i64 [ %88, %55 ], [ %50, %47 ]
  %58 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %56
  %59 = load i64, ptr %58, align 8
  %60 = mul nsw i64 %59, %57
  %61 = add nsw i64 %56, 1
  %62 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = mul nsw i64 %63, %60
  %65 = add nsw i64 %56, 2
  %66 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %65
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = add nsw i64 %56, 3
  %70 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = add nsw i64 %56, 4
  %74 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = add nsw i64 %56, 5
  %78 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = add nsw i64 %56, 6
  %82 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = add nsw i64 %56, 7
  %86 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = add nsw i64 %56, 8
  %90 = icmp eq i64 %89, %8
  br i1 %90, label %52, label %55
91:                                               ; preds = %52, %91
  %92 = phi i64 [ %95, %91 ], [ 0, %52 ]
  %93 = phi ptr [ %96, %91 ], [ %0, %52 ]
  %94 = phi ptr [ %97, %91 ], [ %1, %52 ]
  tail call fastcc void @copy_items(ptr noundef %93, ptr noundef %94, ptr noundef %2, i64 noundef %28) #13
  %95 = add nuw nsw i64 %92, 1
  %96 = getelementptr inbounds i8, ptr %93, i64 %53
  %97 = getelementptr inbounds i8, ptr %94, i64 %27
  %98 = icmp eq i64 %95, %24
  br i1 %98, label %407, label %91
99:                                               ; preds = %21
  %100 = icmp slt i64 %24, 4
  switch i64 %6, label %123 [
    i64 8, label %112
    i64 4, label %101
  ]
101:                                              ; preds = %99
  br i1 %100, label %299, label %102
102:                                              ; preds = %101
  %103 = shl nsw i64 %27, 2
  %104 = shl nsw i64 %27, 1
  %105 = mul nsw i64 %27, 3
  %106 = add nsw i64 %24, -4
  %107 = icmp ult i64 %106, 4
  br i1 %107, label %277, label %108
108:                                              ; preds = %102
  %109 = lshr i64 %106, 2
  %110 = add nuw nsw i64 %109, 1
  %111 = and i64 %110, 9223372036854775806
  br label %243
112:                                              ; preds = %99
  br i1 %100, label %187, label %113
113:                                              ; preds = %112
  %114 = shl nsw i64 %27, 2
  %115 = shl nsw i64 %27, 1
  %116 = mul nsw i64 %27, 3
  %117 = add nsw i64 %24, -4
  %118 = icmp ult i64 %117, 4
  br i1 %118, label %165, label %119
119:                                              ; preds = %113
  %120 = lshr i64 %117, 2
  %121 = add nuw nsw i64 %120, 1
  %122 = and i64 %121, 9223372036854775806
  br label %131
123:                                              ; preds = %99
  br i1 %100, label %369, label %124
124:                                              ; preds = %123
  %125 = shl nsw i64 %6, 2
  %126 = shl nsw i64 %27, 2
  %127 = shl nsw i64 %6, 1
  %128 = shl nsw i64 %27, 1
  %129 = mul nsw i64 %6, 3
  %130 = mul nsw i64 %27, 3
  br label %355
131:                                              ; preds = %131, %119
  %132 = phi i64 [ 4, %119 ], [ %160, %131 ]
  %133 = phi ptr [ %0, %119 ], [ %158, %131 ]
  %134 = phi ptr [ %1, %119 ], [ %159, %131 ]
  %135 = phi i64 [ 0, %119 ], [ %161, %131 ]
  %136 = load i64, ptr %134, align 1
  store i64 %136, ptr %133, align 1
  %137 = getelementptr inbounds nuw i8, ptr %133, i64 8
  %138 = getelementptr inbounds i8, ptr %134, i64 %27
  %139 = load i64, ptr %138, align 1
  store i64 %139, ptr %137, align 1
  %140 = getelementptr inbounds nuw i8, ptr %133, i64 16
  %141 = getelementptr inbounds i8, ptr %134, i64 %115
  %142 = load i64, ptr %141, align 1
  store i64 %142, ptr %140, align 1
  %143 = getelementptr inbounds nuw i8, ptr %133, i64 24
  %144 = getelementptr inbounds i8, ptr %134, i64 %116
  %145 = load i64, ptr %144, align 1
  store i64 %145, ptr %143, align 1
  %146 = getelementptr inbounds nuw i8, ptr %133, i64 32
  %147 = getelementptr inbounds i8, ptr %134, i64 %114
  %148 = load i64, ptr %147, align 1
  store i64 %148, ptr %146, align 1
  %149 = getelementptr inbounds nuw i8, ptr %133, i64 40
  %150 = getelementptr inbounds i8, ptr %147, i64 %27
  %151 = load i64, ptr %150, align 1
  store i64 %151, ptr %149, align 1
  %152 = getelementptr inbounds nuw i8, ptr %133, i64 48
  %153 = getelementptr inbounds i8, ptr %147, i64 %115
  %154 = load i64, ptr %153, align 1
  store i64 %154, ptr %152, align 1
  %155 = getelementptr inbounds nuw i8, ptr %133, i64 56
  %156 = getelementptr inbounds i8, ptr %147, i64 %116
  %157 = load i64, ptr %156, align 1
  store i64 %157, ptr %155, align 1
  %158 = getelementptr inbounds nuw i8, ptr %133, i64 64
  %159 = getelementptr inbounds i8, ptr %147, i64 %114
  %160 = add nuw nsw i64 %132, 8
  %161 = add i64 %135, 2
  %162 = icmp eq i64 %161, %122
  br i1 %162, label %163, label %131
163:                                              ; preds = %131
  %164 = add nuw nsw i64 %132, 4
  br label %165
165:                                              ; preds = %163, %113
  %166 = phi i64 [ poison, %113 ], [ %164, %163 ]
  %167 = phi ptr [ poison, %113 ], [ %158, %163 ]
  %168 = phi ptr [ poison, %113 ], [ %159, %163 ]
  %169 = phi i64 [ 4, %113 ], [ %160, %163 ]
  %170 = phi ptr [ %0, %113 ], [ %158, %163 ]
  %171 = phi ptr [ %1, %113 ], [ %159, %163 ]
  %172 = and i64 %117, 4
  %173 = icmp eq i64 %172, 0
  br i1 %173, label %174, label %187
174:                                              ; preds = %165
  %175 = load i64, ptr %171, align 1
  store i64 %175, ptr %170, align 1
  %176 = getelementptr inbounds nuw i8, ptr %170, i64 8
  %177 = getelementptr inbounds i8, ptr %171, i64 %27
  %178 = load i64, ptr %177, align 1
  store i64 %178, ptr %176, align 1
  %179 = getelementptr inbounds nuw i8, ptr %170, i64 16
  %180 = getelementptr inbounds i8, ptr %171, i64 %115
  %181 = load i64, ptr %180, align 1
  store i64 %181, ptr %179, align 1
  %182 = getelementptr inbounds nuw i8, ptr %170, i64 24
  %183 = getelementptr inbounds i8, ptr %171, i64 %116
  %184 = load i64, ptr %183, align 1
  store i64 %184, ptr %182, align 1
  %185 = getelementptr inbounds nuw i8, ptr %170, i64 32
  %186 = getelementptr inbounds i8, ptr %171, i64 %114
  br label %187
187:                                              ; preds = %174, %165, %112
  %188 = phi ptr [ %1, %112 ], [ %168, %165 ], [ %186, %174 ]
  %189 = phi ptr [ %0, %112 ], [ %167, %165 ], [ %185, %174 ]
  %190 = phi i64 [ 0, %112 ], [ %166, %165 ], [ %169, %174 ]
  %191 = icmp slt i64 %190, %24
  br i1 %191, label %192, label %407
192:                                              ; preds = %187
  %193 = sub i64 %24, %190
  %194 = and i64 %193, 7
  %195 = icmp eq i64 %194, 0
  br i1 %195, label %207, label %196
196:                                              ; preds = %192, %196
  %197 = phi i64 [ %202, %196 ], [ %190, %192 ]
  %198 = phi ptr [ %203, %196 ], [ %189, %192 ]
  %199 = phi ptr [ %204, %196 ], [ %188, %192 ]
  %200 = phi i64 [ %205, %196 ], [ 0, %192 ]
  %201 = load i64, ptr %199, align 1
  store i64 %201, ptr %198, align 1
  %202 = add nuw nsw i64 %197, 1
  %203 = getelementptr inbounds nuw i8, ptr %198, i64 8
  %204 = getelementptr inbounds i8, ptr %199, i64 %27
  %205 = add i64 %200, 1
  %206 = icmp eq i64 %205, %194
  br i1 %206, label %207, label %196
207:                                              ; preds = %196, %192
  %208 = phi i64 [ %190, %192 ], [ %202, %196 ]
  %209 = phi ptr [ %189, %192 ], [ %203, %196 ]
  %210 = phi ptr [ %188, %192 ], [ %204, %196 ]
  %211 = sub i64 %190, %24
  %212 = icmp ugt i64 %211, -8
  br i1 %212, label %407, label %213
213:                                              ; preds = %207, %213
  %214 = phi i64 [ %239, %213 ], [ %208, %207 ]
  %215 = phi ptr [ %240, %213 ], [ %209, %207 ]
  %216 = phi ptr [ %241, %213 ], [ %210, %207 ]
  %217 = load i64, ptr %216, align 1
  store i64 %217, ptr %215, align 1
  %218 = getelementptr inbounds nuw i8, ptr %215, i64 8
  %219 = getelementptr inbounds i8, ptr %216, i64 %27
  %220 = load i64, ptr %219, align 1
  store i64 %220, ptr %218, align 1
  %221 = getelementptr inbounds nuw i8, ptr %215, i64 16
  %222 = getelementptr inbounds i8, ptr %219, i64 %27
  %223 = load i64, ptr %222, align 1
  store i64 %223, ptr %221, align 1
  %224 = getelementptr inbounds nuw i8, ptr %215, i64 24
  %225 = getelementptr inbounds i8, ptr %222, i64 %27
  %226 = load i64, ptr %225, align 1
  store i64 %226, ptr %224, align 1
  %227 = getelementptr inbounds nuw i8, ptr %215, i64 32
  %228 = getelementptr inbounds i8, ptr %225, i64 %27
  %229 = load i64, ptr %228, align 1
  store i64 %229, ptr %227, align 1
  %230 = getelementptr inbounds nuw i8, ptr %215, i64 40
  %231 = getelementptr inbounds i8, ptr %228, i64 %27
  %232 = load i64, ptr %231, align 1
  store i64 %232, ptr %230, align 1
  %233 = getelementptr inbounds nuw i8, ptr %215, i64 48
  %234 = getelementptr inbounds i8, ptr %231, i64 %27
  %235 = load i64, ptr %234, align 1
  store i64 %235, ptr %233, align 1
  %236 = getelementptr inbounds nuw i8, ptr %215, i64 56
  %237 = getelementptr inbounds i8, ptr %234, i64 %27
  %238 = load i64, ptr %237, align 1
  store i64 %238, ptr %236, align 1
  %239 = add nuw nsw i64 %214, 8
  %240 = getelementptr inbounds nuw i8, ptr %215, i64 64
  %241 = getelementptr inbounds i8, ptr %237, i64 %27
  %242 = icmp eq i64 %239, %24
  br i1 %242, label %407, label %213
243:                                              ; preds = %243, %108
  %244 = phi i64 [ 4, %108 ], [ %272, %243 ]
  %245 = phi ptr [ %0, %108 ], [ %270, %243 ]
  %246 = phi ptr [ %1, %108 ], [ %271, %243 ]
  %247 = phi i64 [ 0, %108 ], [ %273, %243 ]
  %248 = load i32, ptr %246, align 1
  store i32 %248, ptr %245, align 1
  %249 = getelementptr inbounds nuw i8, ptr %245, i64 4
  %250 = getelementptr inbounds i8, ptr %246, i64 %27
  %251 = load i32, ptr %250, align 1
  store i32 %251, ptr %249, align 1
  %252 = getelementptr inbounds nuw i8, ptr %245, i64 8
  %253 = getelementptr inbounds i8, ptr %246, i64 %104
  %254 = load i32, ptr %253, align 1
  store i32 %254, ptr %252, align 1
  %255 = getelementptr inbounds nuw i8, ptr %245, i64 12
  %256 = getelementptr inbounds i8, ptr %246, i64 %105
  %257 = load i32, ptr %256, align 1
  store i32 %257, ptr %255, align 1
  %258 = getelementptr inbounds nuw i8, ptr %245, i64 16
  %259 = getelementptr inbounds i8, ptr %246, i64 %103
  %260 = load i32, ptr %259, align 1
  store i32 %260, ptr %258, align 1
  %261 = getelementptr inbounds nuw i8, ptr %245, i64 20
  %262 = getelementptr inbounds i8, ptr %259, i64 %27
  %263 = load i32, ptr %262, align 1
  store i32 %263, ptr %261, align 1
  %264 = getelementptr inbounds nuw i8, ptr %245, i64 24
  %265 = getelementptr inbounds i8, ptr %259, i64 %104
  %266 = load i32, ptr %265, align 1
  store i32 %266, ptr %264, align 1
  %267 = getelementptr inbounds nuw i8, ptr %245, i64 28
  %268 = getelementptr inbounds i8, ptr %259, i64 %105
  %269 = load i32, ptr %268, align 1
  store i32 %269, ptr %267, align 1
  %270 = getelementptr inbounds nuw i8, ptr %245, i64 32
  %271 = getelementptr inbounds i8, ptr %259, i64 %103
  %272 = add nuw nsw i64 %244, 8
  %273 = add i64 %247, 2
  %274 = icmp eq i64 %273, %111
  br i1 %274, label %275, label %243
275:                                              ; preds = %243
  %276 = add nuw nsw i64 %244, 4
  br label %277
277:                                              ; preds = %275, %102
  %278 = phi i64 [ poison, %102 ], [ %276, %275 ]
  %279 = phi ptr [ poison, %102 ], [ %270, %275 ]
  %280 = phi ptr [ poison, %102 ], [ %271, %275 ]
  %281 = phi i64 [ 4, %102 ], [ %272, %275 ]
  %282 = phi ptr [ %0, %102 ], [ %270, %275 ]
  %283 = phi ptr [ %1, %102 ], [ %271, %275 ]
  %284 = and i64 %106, 4
  %285 = icmp eq i64 %284, 0
  br i1 %285, label %286, label %299
286:                                              ; preds = %277
  %287 = load i32, ptr %283, align 1
  store i32 %287, ptr %282, align 1
  %288 = getelementptr inbounds nuw i8, ptr %282, i64 4
  %289 = getelementptr inbounds i8, ptr %283, i64 %27
  %290 = load i32, ptr %289, align 1
  store i32 %290, ptr %288, align 1
  %291 = getelementptr inbounds nuw i8, ptr %282, i64 8
  %292 = getelementptr inbounds i8, ptr %283, i64 %104
  %293 = load i32, ptr %292, align 1
  store i32 %293, ptr %291, align 1
  %294 = getelementptr inbounds nuw i8, ptr %282, i64 12
  %295 = getelementptr inbounds i8, ptr %283, i64 %105
  %296 = load i32, ptr %295, align 1
  store i32 %296, ptr %294, align 1
  %297 = getelementptr inbounds nuw i8, ptr %282, i64 16
  %298 = getelementptr inbounds i8, ptr %283, i64 %103
  br label %299
299:                                              ; preds = %286, %277, %101
  %300 = phi ptr [ %1, %101 ], [ %280, %277 ], [ %298, %286 ]
  %301 = phi ptr [ %0, %101 ], [ %279, %277 ], [ %297, %286 ]
  %302 = phi i64 [ 0, %101 ], [ %278, %277 ], [ %281, %286 ]
  %303 = icmp slt i64 %302, %24
  br i1 %303, label %304, label %407
304:                                              ; preds = %299
  %305 = sub i64 %24, %302
  %306 = and i64 %305, 7
  %307 = icmp eq i64 %306, 0
  br i1 %307, label %319, label %308
308:                                              ; preds = %304, %308
  %309 = phi i64 [ %314, %308 ], [ %302, %304 ]
  %310 = phi ptr [ %315, %308 ], [ %301, %304 ]
  %311 = phi ptr [ %316, %308 ], [ %300, %304 ]
  %312 = phi i64 [ %317, %308 ], [ 0, %304 ]
  %313 = load i32, ptr %311, align 1
  store i32 %313, ptr %310, align 1
  %314 = add nuw nsw i64 %309, 1
  %315 = getelementptr inbounds nuw i8, ptr %310, i64 4
  %316 = getelementptr inbounds i8, ptr %311, i64 %27
  %317 = add i64 %312, 1
  %318 = icmp eq i64 %317, %306
  br i1 %318, label %319, label %308
319:                                              ; preds = %308, %304
  %320 = phi i64 [ %302, %304 ], [ %314, %308 ]
  %321 = phi ptr [ %301, %304 ], [ %315, %308 ]
  %322 = phi ptr [ %300, %304 ], [ %316, %308 ]
  %323 = sub i64 %302, %24
  %324 = icmp ugt i64 %323, -8
  br i1 %324, label %407, label %325
325:                                              ; preds = %319, %325
  %326 = phi i64 [ %351, %325 ], [ %320, %319 ]
  %327 = phi ptr [ %352, %325 ], [ %321, %319 ]
  %328 = phi ptr [ %353, %325 ], [ %322, %319 ]
  %329 = load i32, ptr %328, align 1
  store i32 %329, ptr %327, align 1
  %330 = getelementptr inbounds nuw i8, ptr %327, i64 4
  %331 = getelementptr inbounds i8, ptr %328, i64 %27
  %332 = load i32, ptr %331, align 1
  store i32 %332, ptr %330, align 1
  %333 = getelementptr inbounds nuw i8, ptr %327, i64 8
  %334 = getelementptr inbounds i8, ptr %331, i64 %27
  %335 = load i32, ptr %334, align 1
  store i32 %335, ptr %333, align 1
  %336 = getelementptr inbounds nuw i8, ptr %327, i64 12
  %337 = getelementptr inbounds i8, ptr %334, i64 %27
  %338 = load i32, ptr %337, align 1
  store i32 %338, ptr %336, align 1
  %339 = getelementptr inbounds nuw i8, ptr %327, i64 16
  %340 = getelementptr inbounds i8, ptr %337, i64 %27
  %341 = load i32, ptr %340, align 1
  store i32 %341, ptr %339, align 1
  %342 = getelementptr inbounds nuw i8, ptr %327, i64 20
  %343 = getelementptr inbounds i8, ptr %340, i64 %27
  %344 = load i32, ptr %343, align 1
  store i32 %344, ptr %342, align 1
  %345 = getelementptr inbounds nuw i8, ptr %327, i64 24
  %346 = getelementptr inbounds i8, ptr %343, i64 %27
  %347 = load i32, ptr %346, align 1
  store i32 %347, ptr %345, align 1
  %348 = getelementptr inbounds nuw i8, ptr %327, i64 28
  %349 = getelementptr inbounds i8, ptr %346, i64 %27
  %350 = load i32, ptr %349, align 1
  store i32 %350, ptr %348, align 1
  %351 = add nuw nsw i64 %326, 8
  %352 = getelementptr inbounds nuw i8, ptr %327, i64 32
  %353 = getelementptr inbounds i8, ptr %349, i64 %27
  %354 = icmp eq i64 %351, %24
  br i1 %354, label %407, label %325
355:                                              ; preds = %124, %355
  %356 = phi i64 [ 4, %124 ], [ %367, %355 ]
  %357 = phi ptr [ %0, %124 ], [ %365, %355 ]
  %358 = phi ptr [ %1, %124 ], [ %366, %355 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %357, ptr align 1 %358, i64 %6, i1 false)
  %359 = getelementptr inbounds i8, ptr %357, i64 %6
  %360 = getelementptr inbounds i8, ptr %358, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %359, ptr align 1 %360, i64 %6, i1 false)
  %361 = getelementptr inbounds i8, ptr %357, i64 %127
  %362 = getelementptr inbounds i8, ptr %358, i64 %128
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %361, ptr align 1 %362, i64 %6, i1 false)
  %363 = getelementptr inbounds i8, ptr %357, i64 %129
  %364 = getelementptr inbounds i8, ptr %358, i64 %130
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %363, ptr align 1 %364, i64 %6, i1 false)
  %365 = getelementptr inbounds i8, ptr %357, i64 %125
  %366 = getelementptr inbounds i8, ptr %358, i64 %126
  %367 = add nuw nsw i64 %356, 4
  %368 = icmp sgt i64 %367, %24
  br i1 %368, label %369, label %355
369:                                              ; preds = %355, %123
  %370 = phi ptr [ %1, %123 ], [ %366, %355 ]
  %371 = phi ptr [ %0, %123 ], [ %365, %355 ]
  %372 = phi i64 [ 0, %123 ], [ %356, %355 ]
  %373 = icmp slt i64 %372, %24
  br i1 %373, label %374, label %407
374:                                              ; preds = %369
  %375 = and i64 %24, 3
  %376 = icmp eq i64 %375, 0
  br i1 %376, label %387, label %377
377:                                              ; preds = %374, %377
  %378 = phi i64 [ %382, %377 ], [ %372, %374 ]
  %379 = phi ptr [ %383, %377 ], [ %371, %374 ]
  %380 = phi ptr [ %384, %377 ], [ %370, %374 ]
  %381 = phi i64 [ %385, %377 ], [ 0, %374 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %379, ptr align 1 %380, i64 %6, i1 false)
  %382 = add nuw nsw i64 %378, 1
  %383 = getelementptr inbounds i8, ptr %379, i64 %6
  %384 = getelementptr inbounds i8, ptr %380, i64 %27
  %385 = add i64 %381, 1
  %386 = icmp eq i64 %385, %375
  br i1 %386, label %387, label %377
387:                                              ; preds = %377, %374
  %388 = phi i64 [ %372, %374 ], [ %382, %377 ]
  %389 = phi ptr [ %371, %374 ], [ %383, %377 ]
  %390 = phi ptr [ %370, %374 ], [ %384, %377 ]
  %391 = sub i64 %372, %24
  %392 = icmp ugt i64 %391, -4
  br i1 %392, label %407, label %393
393:                                              ; preds = %387, %393
  %394 = phi i64 [ %403, %393 ], [ %388, %387 ]
  %395 = phi ptr [ %404, %393 ], [ %389, %387 ]
  %396 = phi ptr [ %405, %393 ], [ %390, %387 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %395, ptr align 1 %396, i64 %6, i1 false)
  %397 = getelementptr inbounds i8, ptr %395, i64 %6
  %398 = getelementptr inbounds i8, ptr %396, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %397, ptr align 1 %398, i64 %6, i1 false)
  %399 = getelementptr inbounds i8, ptr %397, i64 %6
  %400 = getelementptr inbounds i8, ptr %398, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %399, ptr align 1 %400, i64 %6, i1 false)
  %401 = getelementptr inbounds i8, ptr %399, i64 %6
  %402 = getelementptr inbounds i8, ptr %400, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %401, ptr align 1 %402, i64 %6, i1 false)
  %403 = add nuw nsw i64 %394, 4
  %404 = getelementptr inbounds i8, ptr %401, i64 %6
  %405 = getelementptr inbounds i8, ptr %402, i64 %27
  %406 = icmp eq i64 %403, %24
  br i1 %406, label %407, label %393
407:                                              ; preds = %319, %325, %207, %213, %387, %393, %91, %299, %187, %369, %52, %19
  ret void
}
define internal fastcc range(i32 0, 2) i32 @evaluated(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load i64, ptr %3, align 8
  %5 = add nsw i64 %4, 1
  %6 = alloca ptr, i64 %5, align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = icmp sgt i64 %4, 0
  br i1 %8, label %9, label %23
9:                                                ; preds = %2, %20
  %10 = phi i64 [ %21, %20 ], [ 0, %2 ]
  %11 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %12 = getelementptr inbounds nuw i64, ptr %7, i64 %10
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds i64, ptr %1, i64 %13
  %15 = load i64, ptr %14, align 8
  %16 = tail call ptr %11(i64 noundef %15) #11
  %17 = getelementptr inbounds nuw ptr, ptr %6, i64 %10
  store ptr %16, ptr %17, align 8
  %18 = icmp eq ptr %16, null
  %19 = load i64, ptr %3, align 8
  br i1 %18, label %23, label %20
20:                                               ; preds = %9
  %21 = add nuw nsw i64 %10, 1
  %22 = icmp slt i64 %21, %19
  br i1 %22, label %9, label %23
23:                                               ; preds = %9, %20, %2
  %24 = phi i64 [ %4, %2 ], [ %19, %20 ], [ %19, %9 ]
  %25 = phi i64 [ 0, %2 ], [ %10, %9 ], [ %21, %20 ]
  %26 = icmp eq i64 %25, %24
  br i1 %26, label %27, label %33
27:                                               ; preds = %23
  %28 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %30 = load i64, ptr %29, align 8
  %31 = inttoptr i64 %30 to ptr
  %32 = call ptr %28(ptr noundef %31, ptr noundef nonnull %6, i64 noundef %24, ptr noundef null) #11
  br label %33
33:                                               ; preds = %27, %23
  %34 = phi ptr [ %32, %27 ], [ null, %23 ]
  %35 = icmp eq i64 %25, 0
  br i1 %35, label %43, label %36
36:                                               ; preds = %33, %36
  %37 = phi i64 [ %39, %36 ], [ %25, %33 ]
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %39 = add nsw i64 %37, -1
  %40 = getelementptr inbounds ptr, ptr %6, i64 %39
  %41 = load ptr, ptr %40, align 8
  call void %38(ptr noundef %41) #11
  %42 = icmp eq i64 %39, 0
  br i1 %42, label %43, label %36
43:                                               ; preds = %36, %33
  %44 = icmp eq ptr %34, null
  br i1 %44, label %52, label %45
45:                                               ; preds = %43
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %47 = call i64 %46(ptr noundef nonnull %34) #11
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  store i64 %47, ptr %50, align 8
  %51 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  call void %51(ptr noundef nonnull %34) #11
  br label %52
52:                                               ; preds = %43, %45
  %53 = phi i32 [ 1, %45 ], [ 0, %43 ]
  ret i32 %53
}
define internal fastcc ptr @shown(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull readonly %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %4 = load ptr, ptr %3, align 8
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 %5
  %7 = load ptr, ptr %6, align 8
  %8 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %9 = icmp eq ptr %7, %8
  %10 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %11 = icmp eq ptr %7, %10
  %12 = select i1 %9, i1 true, i1 %11
  br i1 %12, label %13, label %19
13:                                               ; preds = %2
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %17 = load i64, ptr %16, align 8
  %18 = icmp eq i64 %17, 0
  br i1 %18, label %73, label %76
19:                                               ; preds = %2
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %7, %21
  %23 = load i64, ptr %1, align 8
  br i1 %22, label %24, label %118
24:                                               ; preds = %19
  %25 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %26 = getelementptr inbounds i8, ptr %4, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = icmp eq i64 %27, %23
  br i1 %28, label %29, label %118
29:                                               ; preds = %24
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %31 = load ptr, ptr %30, align 8
  %32 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %33 = getelementptr inbounds i8, ptr %4, i64 %32
  %34 = load i64, ptr %33, align 8
  %35 = load ptr, ptr %31, align 8
  %36 = ptrtoint ptr %35 to i64
  %37 = icmp eq i64 %34, %36
  br i1 %37, label %38, label %118
38:                                               ; preds = %29
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %40 = getelementptr inbounds i8, ptr %4, i64 %39
  %41 = load i32, ptr %40, align 4
  %42 = sext i32 %41 to i64
  %43 = getelementptr inbounds nuw i8, ptr %31, i64 16
  %44 = load i64, ptr %43, align 8
  %45 = icmp eq i64 %44, %42
  br i1 %45, label %46, label %118
46:                                               ; preds = %38
  %47 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %48 = getelementptr inbounds i8, ptr %4, i64 %47
  %49 = load ptr, ptr %48, align 8
  %50 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %51 = getelementptr inbounds i8, ptr %4, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = icmp slt i32 %41, 1
  br i1 %53, label %73, label %54
54:                                               ; preds = %46
  %55 = getelementptr inbounds nuw i8, ptr %31, i64 48
  br label %59
56:                                               ; preds = %66
  %57 = add nuw nsw i64 %60, 1
  %58 = icmp eq i64 %57, %42
  br i1 %58, label %73, label %59
59:                                               ; preds = %56, %54
  %60 = phi i64 [ 0, %54 ], [ %57, %56 ]
  %61 = getelementptr inbounds nuw i64, ptr %49, i64 %60
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds nuw [0 x i64], ptr %55, i64 0, i64 %60
  %64 = load i64, ptr %63, align 8
  %65 = icmp eq i64 %62, %64
  br i1 %65, label %66, label %118
66:                                               ; preds = %59
  %67 = getelementptr inbounds nuw i64, ptr %52, i64 %60
  %68 = load i64, ptr %67, align 8
  %69 = add nuw nsw i64 %60, %42
  %70 = getelementptr inbounds nuw [0 x i64], ptr %55, i64 0, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = icmp eq i64 %68, %71
  br i1 %72, label %56, label %118
73:                                               ; preds = %56, %46, %13
  %74 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  tail call void %74(ptr noundef %4) #11
  %75 = load ptr, ptr %3, align 8
  br label %167
76:                                               ; preds = %13
  %77 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %78 = load ptr, ptr %77, align 8
  %79 = icmp eq ptr %78, null
  br i1 %79, label %83, label %80
80:                                               ; preds = %76
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %82 = tail call ptr %81(ptr noundef nonnull %78, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  br label %105
83:                                               ; preds = %76
  %84 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %85 = load ptr, ptr %15, align 8
  tail call void %84(ptr noundef %85) #11
  %86 = getelementptr inbounds nuw i8, ptr %15, i64 40
  %87 = load i64, ptr %86, align 8
  %88 = icmp eq i64 %87, 0
  br i1 %88, label %91, label %89
89:                                               ; preds = %83
  %90 = load i64, ptr %16, align 8
  br label %95
91:                                               ; preds = %83
  %92 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %93 = load i64, ptr %16, align 8
  %94 = getelementptr inbounds i64, ptr %92, i64 %93
  br label %95
95:                                               ; preds = %91, %89
  %96 = phi i64 [ %93, %91 ], [ %90, %89 ]
  %97 = phi ptr [ %94, %91 ], [ null, %89 ]
  %98 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %99 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %100 = load ptr, ptr %99, align 8
  %101 = load ptr, ptr %15, align 8
  %102 = trunc i64 %96 to i32
  %103 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %104 = tail call ptr %98(ptr noundef %100, ptr noundef %101, i32 noundef %102, ptr noundef nonnull %103, ptr noundef %97, ptr noundef null, i32 noundef 0, ptr noundef null) #11
  br label %105
105:                                              ; preds = %80, %95
  %106 = phi ptr [ %104, %95 ], [ %82, %80 ]
  %107 = icmp eq ptr %106, null
  br i1 %107, label %167, label %108
108:                                              ; preds = %105
  %109 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %110 = getelementptr inbounds i8, ptr %106, i64 %109
  %111 = load i64, ptr %110, align 8
  %112 = inttoptr i64 %111 to ptr
  %113 = load i64, ptr %1, align 8
  %114 = inttoptr i64 %113 to ptr
  %115 = load ptr, ptr %14, align 8
  %116 = getelementptr inbounds nuw i8, ptr %115, i64 24
  %117 = load i64, ptr %116, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %112, ptr align 1 %114, i64 %117, i1 false)
  br label %167
118:                                              ; preds = %59, %66, %29, %38, %19, %24
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %120 = load ptr, ptr %119, align 8
  %121 = inttoptr i64 %23 to ptr
  %122 = getelementptr inbounds nuw i8, ptr %120, i64 8
  %123 = load ptr, ptr %122, align 8
  %124 = icmp eq ptr %123, null
  %125 = icmp ne i64 %23, 0
  %126 = or i1 %125, %124
  br i1 %126, label %130, label %127
127:                                              ; preds = %118
  %128 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %129 = tail call ptr %128(ptr noundef nonnull %123, ptr noundef null, i64 noundef 0, ptr noundef null) #11
  br label %155
130:                                              ; preds = %118
  %131 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %132 = load ptr, ptr %120, align 8
  tail call void %131(ptr noundef %132) #11
  %133 = getelementptr inbounds nuw i8, ptr %120, i64 40
  %134 = load i64, ptr %133, align 8
  %135 = icmp eq i64 %134, 0
  %136 = or i1 %125, %135
  br i1 %136, label %140, label %137
137:                                              ; preds = %130
  %138 = getelementptr inbounds nuw i8, ptr %120, i64 16
  %139 = load i64, ptr %138, align 8
  br label %145
140:                                              ; preds = %130
  %141 = getelementptr inbounds nuw i8, ptr %120, i64 48
  %142 = getelementptr inbounds nuw i8, ptr %120, i64 16
  %143 = load i64, ptr %142, align 8
  %144 = getelementptr inbounds i64, ptr %141, i64 %143
  br label %145
145:                                              ; preds = %140, %137
  %146 = phi i64 [ %143, %140 ], [ %139, %137 ]
  %147 = phi ptr [ %144, %140 ], [ null, %137 ]
  %148 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %149 = load ptr, ptr %20, align 8
  %150 = load ptr, ptr %120, align 8
  %151 = trunc i64 %146 to i32
  %152 = getelementptr inbounds nuw i8, ptr %120, i64 48
  %153 = select i1 %125, i32 1024, i32 0
  %154 = tail call ptr %148(ptr noundef %149, ptr noundef %150, i32 noundef %151, ptr noundef nonnull %152, ptr noundef %147, ptr noundef %121, i32 noundef %153, ptr noundef null) #11
  br label %155
155:                                              ; preds = %127, %145
  %156 = phi ptr [ %154, %145 ], [ %129, %127 ]
  %157 = icmp eq ptr %156, null
  br i1 %157, label %167, label %158
158:                                              ; preds = %155
  %159 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %160 = load ptr, ptr %3, align 8
  tail call void %159(ptr noundef %160) #11
  %161 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  %162 = load ptr, ptr %3, align 8
  %163 = tail call i32 %161(ptr noundef nonnull %156, ptr noundef %162) #11
  %164 = icmp eq i32 %163, 0
  br i1 %164, label %167, label %165
165:                                              ; preds = %158
  %166 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  tail call void %166(ptr noundef nonnull %156) #11
  br label %167
167:                                              ; preds = %165, %155, %158, %105, %108, %73
  %168 = phi ptr [ %75, %73 ], [ %106, %108 ], [ null, %105 ], [ null, %165 ], [ null, %155 ], [ %156, %158 ]
  ret ptr %168
}
define internal fastcc ptr @given_away(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %4 = load ptr, ptr %3, align 8
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 %5
  %7 = getelementptr inbounds i8, ptr %6, i64 -8
  %8 = load i32, ptr %7, align 4
  %9 = icmp eq i32 %8, 1
  br i1 %9, label %10, label %76
10:                                               ; preds = %2
  %11 = load ptr, ptr %6, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %11, %13
  br i1 %14, label %15, label %76
15:                                               ; preds = %10
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %17 = getelementptr inbounds i8, ptr %4, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = load i64, ptr %1, align 8
  %20 = icmp eq i64 %18, %19
  br i1 %20, label %21, label %76
21:                                               ; preds = %15
  %22 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %23 = load ptr, ptr %22, align 8
  %24 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %25 = getelementptr inbounds i8, ptr %4, i64 %24
  %26 = load i64, ptr %25, align 8
  %27 = load ptr, ptr %23, align 8
  %28 = ptrtoint ptr %27 to i64
  %29 = icmp eq i64 %26, %28
  br i1 %29, label %30, label %76
30:                                               ; preds = %21
  %31 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %32 = getelementptr inbounds i8, ptr %4, i64 %31
  %33 = load i32, ptr %32, align 4
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds nuw i8, ptr %23, i64 16
  %36 = load i64, ptr %35, align 8
  %37 = icmp eq i64 %36, %34
  br i1 %37, label %38, label %76
38:                                               ; preds = %30
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %40 = getelementptr inbounds i8, ptr %4, i64 %39
  %41 = load ptr, ptr %40, align 8
  %42 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %43 = getelementptr inbounds i8, ptr %4, i64 %42
  %44 = load ptr, ptr %43, align 8
  %45 = icmp slt i32 %33, 1
  br i1 %45, label %65, label %46
46:                                               ; preds = %38
  %47 = getelementptr inbounds nuw i8, ptr %23, i64 48
  br label %51
48:                                               ; preds = %58
  %49 = add nuw nsw i64 %52, 1
  %50 = icmp eq i64 %49, %34
  br i1 %50, label %65, label %51
51:                                               ; preds = %48, %46
  %52 = phi i64 [ 0, %46 ], [ %49, %48 ]
  %53 = getelementptr inbounds nuw i64, ptr %41, i64 %52
  %54 = load i64, ptr %53, align 8
  %55 = getelementptr inbounds nuw [0 x i64], ptr %47, i64 0, i64 %52
  %56 = load i64, ptr %55, align 8
  %57 = icmp eq i64 %54, %56
  br i1 %57, label %58, label %76
58:                                               ; preds = %51
  %59 = getelementptr inbounds nuw i64, ptr %44, i64 %52
  %60 = load i64, ptr %59, align 8
  %61 = add nuw nsw i64 %52, %34
  %62 = getelementptr inbounds nuw [0 x i64], ptr %47, i64 0, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = icmp eq i64 %60, %63
  br i1 %64, label %48, label %76
65:                                               ; preds = %48, %38
  %66 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %67 = getelementptr inbounds i8, ptr %4, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %82, label %70
70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %68, i64 %5
  %72 = load ptr, ptr %71, align 8
  %73 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %74 = load ptr, ptr %73, align 8
  %75 = icmp eq ptr %72, %74
  br i1 %75, label %82, label %76
76:                                               ; preds = %51, %58, %21, %30, %10, %15, %2, %70
  %77 = tail call fastcc ptr @copied(ptr noundef %0, ptr noundef %1) #13
  %78 = load ptr, ptr %3, align 8
  %79 = icmp eq ptr %78, null
  br i1 %79, label %82, label %80
80:                                               ; preds = %76
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  tail call void %81(ptr noundef nonnull %78) #11
  br label %82
82:                                               ; preds = %80, %76, %70, %65
  %83 = phi ptr [ %4, %65 ], [ %4, %70 ], [ %77, %76 ], [ %77, %80 ]
  store ptr null, ptr %3, align 8
  ret ptr %83
}
define internal fastcc ptr @copied(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull readonly %1) unnamed_addr #2 {
  %3 = alloca ptr, align 8
  %4 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %9 = load i64, ptr %8, align 8
  %10 = mul nsw i64 %9, %7
  %11 = icmp slt i64 %10, 131072
  br i1 %11, label %12, label %34
12:                                               ; preds = %2
  %13 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %14 = load ptr, ptr %5, align 8
  tail call void %13(ptr noundef %14) #11
  %15 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %17 = load ptr, ptr %16, align 8
  %18 = load ptr, ptr %5, align 8
  %19 = getelementptr inbounds nuw i8, ptr %5, i64 16
  %20 = load i64, ptr %19, align 8
  %21 = trunc i64 %20 to i32
  %22 = getelementptr inbounds nuw i8, ptr %5, i64 48
  %23 = tail call ptr %15(ptr noundef %17, ptr noundef %18, i32 noundef %21, ptr noundef nonnull %22, ptr noundef null, ptr noundef null, i32 noundef 0, ptr noundef null) #11
  %24 = icmp eq ptr %23, null
  br i1 %24, label %46, label %25
25:                                               ; preds = %12
  %26 = load i64, ptr %6, align 8
  %27 = icmp eq i64 %26, 0
  br i1 %27, label %46, label %28
28:                                               ; preds = %25
  %29 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %30 = getelementptr inbounds i8, ptr %23, i64 %29
  %31 = load ptr, ptr %30, align 8
  %32 = load i64, ptr %1, align 8
  %33 = inttoptr i64 %32 to ptr
  tail call fastcc void @copy_items(ptr noundef %31, ptr noundef %33, ptr noundef nonnull %5, i64 noundef 0) #13
  br label %46
34:                                               ; preds = %2
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #12
  %35 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %1) #13
  store ptr %35, ptr %3, align 8
  %36 = icmp eq ptr %35, null
  br i1 %36, label %44, label %37
37:                                               ; preds = %34
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %40 = load ptr, ptr %39, align 8
  %41 = call ptr %38(ptr noundef %40, ptr noundef nonnull %3, i64 noundef 1, ptr noundef null) #11
  %42 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %43 = load ptr, ptr %3, align 8
  call void %42(ptr noundef %43) #11
  br label %44
44:                                               ; preds = %34, %37
  %45 = phi ptr [ %41, %37 ], [ null, %34 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #12
  br label %46
46:                                               ; preds = %12, %25, %28, %44
  %47 = phi ptr [ %45, %44 ], [ %23, %28 ], [ %23, %25 ], [ null, %12 ]
  ret ptr %47
}
declare i64 @llvm.smax.i64(i64, i64) #10
declare i64 @llvm.smin.i64(i64, i64) #10
attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) }
attributes #1 = { noreturn nounwind }
attributes #2 = { nounwind }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(read, argmem: none, inaccessiblemem: none) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nounwind }
attributes #7 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #8 = { mustprogress nocallback nofree nosync nounwind willreturn }
attributes #9 = { nofree nosync nounwind memory(argmem: readwrite) }
attributes #10 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #11 = { nobuiltin nounwind }
attributes #12 = { nounwind }
attributes #13 = { nobuiltin }
